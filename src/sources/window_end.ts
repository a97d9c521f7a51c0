import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { SEEK_READ, type SortValues, sortValues } from "../filter/order.ts";
import { identifierIn } from "../json/bytes/bson_reader.ts";
import { isObjectId, Types } from "../schema/mongoose/bson.ts";
import type { PageRead } from "./source.ts";

const { BSON } = mongoose.mongo;

export function pageEnd(stored: object | undefined, { paths }: PageRead): SortValues | undefined {
  if (stored === undefined || paths.length === 0) return undefined;
  const id = paths.length === 1 && Buffer.isBuffer(stored) ? identifierIn(stored) : undefined;
  if (id !== undefined) return { _id: new Types.ObjectId(id) };
  const values = Buffer.isBuffer(stored) ? BSON.deserialize(stored, DECODE) : stored;
  return Object.hasOwn(values, "_id") ? sortValues(values, paths) : undefined;
}

const DECODE = { ...SEEK_READ, validation: { utf8: false } };

/** Hooks may change dates and bytes in place, but the cursor needs the stored values. */
export function noteEnd(stored: object, page: PageRead | undefined): void {
  if (page?.note === undefined) return;
  if (Buffer.isBuffer(stored)) return page.note(() => pageEnd(stored, page));
  const end = pageEnd(stored, page);
  const kept = end &&
    Object.fromEntries(Object.entries(end).map(([path, value]) => [path, copied(value)]));
  page.note(() => kept);
}

function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isObjectId(value)) return value;
  return value instanceof Date
    ? new Date(value)
    : BSON.deserialize(BSON.serialize({ value })).value;
}
