import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { IDENTIFIER, type Version } from "../../schema/fields/system_fields.ts";
import { isFieldKey, isJsonObject } from "../../schema/fields/json.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { isScalar, SEEK_READ, type SortValues } from "./order.ts";
import type { Order } from "./read_rules.ts";

const { BSON, ObjectId } = mongoose.mongo;

export type Cursor =
  | { readonly order: string; readonly values: readonly unknown[] }
  | EntityCursor;

/** Behind an entity, wherever it stands when the page is read. Another version tells that it may have moved. */
export interface EntityCursor {
  readonly id: unknown;
  readonly order?: string | undefined;
  readonly version?: Version | undefined;
}

/** A URL has to have room for a cursor. */
export const CURSOR = /^[\w-]{1,4096}$/;

const MAX_VALUES = 1024;

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
  const place = isShown && v.slice(0, -1).every(isScalar) ? BSON.serialize({ o, v }) : undefined;
  const cursor = place !== undefined && place.length <= MAX_VALUES
    ? place
    : BSON.serialize({ o, i: id, ...version !== undefined && { n: version } });
  const written = Buffer.from(cursor).toString("base64url");
  return CURSOR.test(written) ? written : undefined;
}

/** Reads a cursor, or the identifier of an entity. Whatever a client may send, its values are values to compare with. */
export function readCursor(text: string): Cursor | undefined {
  if (IDENTIFIER.test(text)) return { id: new ObjectId(text) };
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

function toCursor({ o: order, v: values, i: id, n }: Record<string, unknown>): Cursor | undefined {
  if (typeof order !== "string") return undefined;
  if (Array.isArray(values)) {
    const isPlace = values.slice(0, -1).every(isScalar) && isIdentifier(values.at(-1));
    return isPlace ? { order, values } : undefined;
  }
  if (!isIdentifier(id)) return undefined;
  return { order, id, version: n === undefined || n === null ? n : Number(n) };
}

/** Tells an order from others: a cursor is of no use in another one. A digest would cost as much as the rest of it. */
export function orderMark(order: Order): string {
  let mark = 0;
  for (const character of JSON.stringify(Object.entries(order))) {
    mark = Math.imul(mark, 31) + character.charCodeAt(0) | 0;
  }
  return (mark >>> 0).toString(36);
}

/** How deep identifiers may be nested: the database takes no more than 200 levels in all. */
const MAX_ID_DEPTH = 8;

/** Whether a value may stand in `_id`, and in a condition: a scalar, or an object without operators. */
function isIdentifier(value: unknown, depth = 0): boolean {
  if (!isJsonObject(value)) return isScalar(value);
  return depth < MAX_ID_DEPTH &&
    Object.entries(value).every(([key, each]) => isFieldKey(key) && isIdentifier(each, depth + 1));
}
