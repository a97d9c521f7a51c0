import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import mongoose from "mongoose";
import { IDENTIFIER } from "../../schema/fields/system_fields.ts";
import { isFieldKey, isJsonObject } from "../../schema/fields/json.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import type { Order } from "./read_rules.ts";
import { isScalar, SEEK_READ } from "./sort_values.ts";
import type { SortValues } from "./sort_values.ts";

const { BSON, MaxKey, MinKey, Timestamp } = mongoose.mongo;

export type Cursor =
  | { readonly order: string; readonly values: readonly unknown[] }
  | EntityCursor;

/** Behind an entity, wherever it stands when the page is read. What is known of it tells whether it has moved. */
export interface EntityCursor {
  readonly id: unknown;
  readonly order?: string | undefined;
  /** The digest of the values by which it stood where it did. */
  readonly digest?: string | undefined;
  readonly version?: Version | undefined;
}

/** The most characters of a cursor: a URL has to have room for it. */
const MAX_LENGTH = 4096;

const MAX_VALUES = 1024;

export const CURSOR = new RegExp(`^[\\w-]{1,${MAX_LENGTH}}$`);

/** Writes the place of an entity in an order as text; `undefined` where its identifier cannot be told. */
export function writeCursor(
  order: Order,
  { values, isShown, version }: {
    readonly values: SortValues;
    readonly isShown: boolean;
    readonly version: Version | undefined;
  },
): string | undefined {
  const paths = Object.keys(order);
  const { _id: id } = values;
  if (!isIdentifier(id)) return undefined;
  if (paths.length === 1 && isObjectId(id)) return String(id);
  const o = orderMark(order);
  const v = paths.map((path) => values[path]);
  const isPlace = isShown && v.slice(0, -1).every(isComparable);
  const place = isPlace ? BSON.serialize({ o, v }) : undefined;
  if (place !== undefined && place.length <= MAX_VALUES) return toText(place);
  const known = isShown ? { d: digestOf(values) } : version === undefined ? {} : { n: version };
  return toText(BSON.serialize({ o, i: id, ...known }));
}

function toText(cursor: Uint8Array): string | undefined {
  const written = Buffer.from(cursor).toString("base64url");
  return CURSOR.test(written) ? written : undefined;
}

/** Reads a cursor, or the identifier of an entity. Whatever a client may send, its values are values to compare with. */
export function readCursor(text: string): Cursor | undefined {
  if (IDENTIFIER.test(text)) return { id: new mongoose.Types.ObjectId(text) };
  if (!CURSOR.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text, "base64url");
    const read = BSON.deserialize(bytes, { ...SEEK_READ, promoteBuffers: false });
    // The driver reads vectors that it refuses to send.
    BSON.serialize(read);
    return toCursor(read);
  } catch {
    return undefined;
  }
}

function toCursor({ o: order, v, i: id, d: digest, n }: Record<string, unknown>) {
  if (typeof order !== "string") return undefined;
  if (Array.isArray(v)) {
    const values = v as unknown[];
    const isPlace = values.length > 0 && values.slice(0, -1).every(isComparable) &&
      isIdentifier(values.at(-1));
    return isPlace ? { order, values } : undefined;
  }
  if (!isIdentifier(id)) return undefined;
  if (digest !== undefined) return typeof digest === "string" ? { order, id, digest } : undefined;
  const version = n === undefined || n === null ? n : Number(n);
  return { order, id, version };
}

/** Tells an order from others: a cursor is of no use in another one. A digest would cost as much as the rest of it. */
export function orderMark(order: Order): string {
  let mark = 0;
  for (const character of JSON.stringify(Object.entries(order))) {
    mark = Math.imul(mark, 31) + character.charCodeAt(0) | 0;
  }
  return (mark >>> 0).toString(36);
}

/** The digest of what an entity stands by, however the driver has read it. */
export function digestOf(values: SortValues): string {
  const read = (bytes: Uint8Array) => BSON.deserialize(bytes, { validation: { utf8: false } });
  return hash(BSON.serialize(read(BSON.serialize(values)))).slice(0, 22);
}

function hash(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("base64url");
}

/** An object of a client could look like a value of the driver. */
function isComparable(value: unknown): boolean {
  return !isJsonObject(value) && isScalar(value);
}

/** How deep identifiers may be nested: the database takes no more than 200 levels in all. */
const MAX_ID_DEPTH = 8;

/** Whether a value may stand in `_id`, and in a condition. */
function isIdentifier(value: unknown, depth = 0): boolean {
  if (depth > MAX_ID_DEPTH || value === undefined) return false;
  if (depth > 0 && Array.isArray(value)) {
    return value.every((each) => isIdentifier(each, depth + 1));
  }
  if (isJsonObject(value)) {
    return Object.entries(value).every(([key, each]) =>
      isFieldKey(key) && isIdentifier(each, depth + 1)
    );
  }
  return isComparable(value) ||
    [MaxKey, MinKey, Timestamp].some((type) => value instanceof (type as never));
}
