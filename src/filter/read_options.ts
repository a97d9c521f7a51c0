import type { Document, Model } from "mongoose";
import { badFormat } from "../errors/refusals.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import type { Filter } from "./q/compile_filter.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { KEEP_CONDITIONS } from "./filters.ts";
import { readSort } from "./read_sort.ts";
import type { Selection } from "./selection.ts";

/** Text that is no UTF-8 is shown as far as it is: one such document must not break a list. */
const READ_ALL_TEXT = { enableUtf8Validation: false } as const;

/** The text of an identifier. */
export const IDENTIFIER = /^[0-9a-f]{24}$/i;

/**
 * The hooks' query options, with a bound on time, and an order where pages would otherwise repeat and miss.
 *
 * @param order The order of a page whose hooks gave none.
 */
export function readOptions(
  { options, filter, scope }: Selection,
  maxTimeMS: number,
  order: Record<string, 1> = { _id: 1 },
): Record<string, unknown> {
  const { skip, limit, sort: given, ...others } = options;
  const result: Record<string, unknown> = {
    maxTimeMS,
    ...READ_ALL_TEXT,
    ...others,
    ...KEEP_CONDITIONS,
  };
  if (isCount(skip)) result.skip = checkCount("skip", skip);
  if (isCount(limit)) result.limit = checkCount("limit", limit);
  // The first page may have no skip, or one that is no number: it has the order of the others.
  const paged = isGiven(skip) || (isGiven(limit) && !isByDistance(filter) && !isByDistance(scope));
  const sort = readSort(given) ?? (paged ? order : {});
  if (Object.keys(sort).length > 0) result.sort = sort;
  return result;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** `Number(undefined) * 20` is how pagination hooks say that no page was asked for. */
function isCount(value: unknown): boolean {
  return isGiven(value) && !Number.isNaN(value);
}

function checkCount(name: string, value: unknown): number {
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw badFormat(`Option "${name}" is no count`);
}

/** Whether the database gives an order of its own, the nearest first. */
function isByDistance(filter: Filter): boolean {
  return Object.entries(filter).some(([key, value]) =>
    key === "$and" && Array.isArray(value)
      ? value.some((each) => isByDistance(each as Filter))
      : isJsonObject(value) && ("$near" in value || "$nearSphere" in value)
  );
}

/**
 * Checks the options that hooks gave a list: the database takes a limit that is none for no limit, and would give
 * everything.
 *
 * @throws {RangeError} If the limit is no count of at least 1; the message names the operation and the class.
 */
export function checkLimit({ limit }: Record<string, unknown>, what: string): void {
  if (!isGiven(limit)) return;
  const count = typeof limit === "string" || typeof limit === "number" ? Number(limit) : NaN;
  if (Number.isSafeInteger(count) && count >= 1) return;
  throw new RangeError(
    `Cannot use options.limit of a hook of ${what}: ${String(limit)} is no count of at least 1`,
  );
}

/** The options of a read that names its entity: options of a page do not count. */
export function withoutPage(
  { skip: _skip, limit: _limit, ...options }: Record<string, unknown>,
): Record<string, unknown> {
  return options;
}

/**
 * Gives the identifier of an entity, cast: a plain copy, as a hook may give it, has it as text.
 *
 * @throws {TypeError} If it has none: nobody could tell what belongs to it.
 */
export function identifierOf(entity: object, model: Model<unknown>): unknown {
  const { _id } = entity as { _id?: unknown };
  if (_id !== undefined && _id !== null) {
    return model.schema.path("_id").cast(_id, null as never, false);
  }
  throw new TypeError(
    `Cannot reach what an entity of "${model.modelName}" holds: it was read without _id`,
  );
}

/**
 * Gives the document behind an entity that Mongoose is to write.
 *
 * @throws {TypeError} If it is a plain object, which only a `persist` hook can write.
 */
export function documentOf(entity: object): Document {
  if (isDocument(entity)) return entity;
  throw new TypeError("Cannot write a plain object: the operation needs a persist hook");
}
