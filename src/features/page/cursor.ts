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

/**
 * A cursor that names an entity instead of its sort values, so that it reveals no hidden value. The page begins after
 * the current position of the entity. The cursor is refused if the entity has another version, because the entity may
 * have moved.
 */
export interface EntityCursor {
  readonly id: unknown;
  readonly order?: string | undefined;
  readonly version?: Version | undefined;
}

/** The form of a cursor. The maximum length makes a cursor fit into a URL. */
export const CURSOR = /^[\w-]{1,4096}$/;

const MAX_VALUES = 1024;

/**
 * Returns a cursor for the position of an entity in an order. The cursor has the sort values if the reader may see them
 * and they are short. Otherwise the cursor has the identifier and the version of the entity. Returns `undefined` if the
 * identifier cannot be written in a cursor, so that the page has no link with a cursor.
 */
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

/**
 * Reads a cursor, or the identifier of an entity. Returns `undefined` if the text is malformed, which is a 400. Only
 * scalars and identifiers without operators are accepted, so a client cannot put operators into the condition of a
 * page.
 */
export function readCursor(text: string): Cursor | undefined {
  if (IDENTIFIER.test(text)) return { id: new ObjectId(text) };
  if (!CURSOR.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text, "base64url");
    const read = BSON.deserialize(bytes, { ...SEEK_READ, promoteBuffers: false });
    // The driver decodes some malformed vectors but refuses to encode them. Encoding the cursor here refuses such a
    // vector before a query is sent.
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

/**
 * Returns a short hash of a sort order. A cursor carries the hash of its order, because the cursor is refused with any
 * other order. A cryptographic digest would take as long as the rest of the cursor.
 */
export function orderMark(order: Order): string {
  let mark = 0;
  for (const character of JSON.stringify(Object.entries(order))) {
    mark = Math.imul(mark, 31) + character.charCodeAt(0) | 0;
  }
  return (mark >>> 0).toString(36);
}

/**
 * The maximum depth of objects in an identifier. MongoDB accepts at most 200 levels in a whole command, so a condition
 * with a deeper identifier could be refused.
 */
const MAX_ID_DEPTH = 8;

/**
 * Whether a value may be an identifier in a condition. An identifier is a scalar, or an object without operators, so
 * that a client cannot send an operator in its place.
 */
function isIdentifier(value: unknown, depth = 0): boolean {
  if (!isJsonObject(value)) return isScalar(value);
  return depth < MAX_ID_DEPTH &&
    Object.entries(value).every(([key, each]) => isFieldKey(key) && isIdentifier(each, depth + 1));
}
