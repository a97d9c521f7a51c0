import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { IDENTIFIER, type Version } from "../../schema/fields/system_fields.ts";
import { isFieldKey, isJsonObject } from "../../schema/fields/json.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { type Order, SEEK_READ, type SortValues } from "../../filter/order.ts";
import { isScalar } from "./seek.ts";

const { BSON, ObjectId } = mongoose.mongo;

export type Cursor =
  | { readonly order: string; readonly values: readonly unknown[] }
  | EntityCursor;

/** A cursor without sort values is refused after a change of its entity, whose position may have changed. */
export interface EntityCursor {
  readonly id: unknown;
  readonly order?: string | undefined;
  readonly version?: Version | undefined;
}

/** A cursor must fit into a URL. */
export const CURSOR = /^[\w-]{1,4096}$/;

const MAX_VALUES = 1024;

/** The cursor contains sort values only if they are short and the reader may see them. */
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
  const place = isShown && v.slice(0, -1).every(isScalar) ? BSON.serialize({ o, v }) : undefined;
  const cursor = place !== undefined && place.length <= MAX_VALUES
    ? place
    : BSON.serialize({ o, i: id, ...version !== undefined && { n: version } });
  const written = Buffer.from(cursor).toString("base64url");
  return CURSOR.test(written) ? written : undefined;
}

/** Operators are refused, because the values become a part of the query. */
export function readCursor(text: string, hasObjectIds: boolean): Cursor | undefined {
  if (!hasObjectIds) return readPlace(text) ?? { id: text };
  return IDENTIFIER.test(text) ? { id: new ObjectId(text) } : readPlace(text);
}

function readPlace(text: string): Cursor | undefined {
  if (!CURSOR.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text, "base64url");
    const read = BSON.deserialize(bytes, { ...SEEK_READ, promoteBuffers: false });
    // The driver decodes some malformed BSON vectors that it refuses to encode, and the query would fail.
    BSON.serialize(read);
    return toCursor(read);
  } catch {
    return undefined;
  }
}

function toCursor({ o: order, v: values, i: id, n }: Record<string, unknown>): Cursor | undefined {
  if (typeof order !== "string") return undefined;
  if (Array.isArray(values)) {
    const isPlace = values.slice(0, -1).every(isScalar) && isIdentifier(values.at(-1));
    return isPlace ? { order, values } : undefined;
  }
  if (!isIdentifier(id)) return undefined;
  return { order, id, version: n === undefined || n === null ? n : Number(n) };
}

/** By this mark, a cursor of another order is refused. A cryptographic hash would double the time to make a cursor. */
export function orderMark(order: Order): string {
  let mark = 0;
  for (const character of JSON.stringify(Object.entries(order))) {
    mark = Math.imul(mark, 31) + character.charCodeAt(0) | 0;
  }
  return (mark >>> 0).toString(36);
}

/** MongoDB refuses more than 200 levels in a command, so a cursor must not contain a deep identifier. */
const MAX_ID_DEPTH = 8;

function isIdentifier(value: unknown, depth = 0): boolean {
  if (!isJsonObject(value)) return isScalar(value);
  return depth < MAX_ID_DEPTH &&
    Object.entries(value).every(([key, each]) => isFieldKey(key) && isIdentifier(each, depth + 1));
}
