import type { Document, Model } from "mongoose";
import { badFormat } from "../errors/refusals.ts";
import { isDocument } from "../mapper/bson.ts";
import { KEEP_CONDITIONS } from "./filters.ts";
import type { EntityValue, Selection } from "../sources/source.ts";

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
  { options }: Selection,
  maxTimeMS: number,
  order: Record<string, 1> = { _id: 1 },
): Record<string, unknown> {
  const { skip, limit, ...given } = options;
  const result: Record<string, unknown> = {
    maxTimeMS,
    ...READ_ALL_TEXT,
    ...given,
    ...KEEP_CONDITIONS,
  };
  if (isGiven(skip)) result.skip = checkCount("skip", skip);
  if (isGiven(limit)) result.limit = checkCount("limit", limit);
  const ordered = result.sort !== undefined || Object.keys(order).length === 0;
  if (result.skip !== undefined && !ordered) result.sort = order;
  return result;
}

/** `Number(undefined) * 20` is how pagination hooks say that no page was asked for. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !Number.isNaN(value);
}

function checkCount(name: string, value: unknown): number {
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw badFormat(`Option "${name}" is no count`);
}

/** Gives an order in the form that the database takes; the mapper takes more. */
export function orderOf(model: Model<unknown>, sort: unknown): object | undefined {
  return sort ? model.find().sort(sort as never).getOptions().sort as object : undefined;
}

/** The options of a read that names its entity: no page has a say in it. */
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
export function identifierOf(entity: EntityValue, model: Model<unknown>): unknown {
  const { _id } = entity as { _id?: unknown };
  if (_id !== undefined && _id !== null) {
    return model.schema.path("_id").cast(_id, null as never, false);
  }
  throw new TypeError(
    `Cannot reach what an entity of "${model.modelName}" holds: it was read without _id`,
  );
}

/**
 * Gives the document behind an entity that the mapper is to write.
 *
 * @throws {TypeError} If it is a plain object, which only a `persist` hook can write.
 */
export function documentOf(entity: EntityValue): Document {
  if (isDocument(entity)) return entity;
  throw new TypeError("Cannot write a plain object: the operation needs a persist hook");
}
