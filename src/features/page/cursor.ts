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
 * The cursor has an identifier in the place of sort values, so that it reveals no hidden value. If the version of the
 * entity has changed, the cursor is refused, because the entity may have another position now.
 */
export interface EntityCursor {
  readonly id: unknown;
  readonly order?: string | undefined;
  readonly version?: Version | undefined;
}

/** The maximum length lets a cursor fit into a URL. */
export const CURSOR = /^[\w-]{1,4096}$/;

const MAX_VALUES = 1024;

/**
 * The cursor has the sort values if the reader may see them and they are short. `undefined` if the identifier cannot be
 * written in a cursor.
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
 * Operators in the text are refused, because the values become a part of the query. Any other text is an identifier if
 * identifiers are no ObjectIds.
 */
export function readCursor(text: string, hasObjectIds: boolean): Cursor | undefined {
  if (!hasObjectIds) return readPlace(text) ?? { id: text };
  return IDENTIFIER.test(text) ? { id: new ObjectId(text) } : readPlace(text);
}

function readPlace(text: string): Cursor | undefined {
  if (!CURSOR.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text, "base64url");
    const read = BSON.deserialize(bytes, { ...SEEK_READ, promoteBuffers: false });
    // The MongoDB driver decodes some malformed BSON vectors that it refuses to encode. The cursor is encoded here, so
    // that a client with such a vector gets a 400 and not the error of a failed query.
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
 * A cursor is refused in a request with another order. A cryptographic hash is not needed and would take as long as the
 * rest of the cursor.
 */
export function orderMark(order: Order): string {
  let mark = 0;
  for (const character of JSON.stringify(Object.entries(order))) {
    mark = Math.imul(mark, 31) + character.charCodeAt(0) | 0;
  }
  return (mark >>> 0).toString(36);
}

/** MongoDB accepts at most 200 levels in a whole command, so the query with a deeper identifier could be refused. */
const MAX_ID_DEPTH = 8;

/** An object with operators such as `$gt` would let a client add conditions to the query. */
function isIdentifier(value: unknown, depth = 0): boolean {
  if (!isJsonObject(value)) return isScalar(value);
  return depth < MAX_ID_DEPTH &&
    Object.entries(value).every(([key, each]) => isFieldKey(key) && isIdentifier(each, depth + 1));
}
