import mongoose from "mongoose";
import { type Filter, isFreeOf, KEEP_CONDITIONS } from "./filters.ts";
import type { Projection } from "./projection.ts";
import { badFormat } from "../errors/refusals.ts";
import { BATCH_SIZE } from "../schema/mongoose/statements/bound_replies.ts";

export interface Selection {
  readonly filter: Filter;
  /**
   * The conditions of `filter` that hooks have added to the conditions of the client. Some reads, such as the read of
   * the entity of a cursor, ignore the filter of the client and apply only these conditions. Missing if no feature of
   * the request has such a read.
   */
  readonly hookConditions?: Filter;
  /**
   * The filters of the option `scope` and of class options, joined into one filter that is not cast yet. Every read and
   * write must apply it, because it hides entities from the client.
   */
  readonly scope: Filter;
  /**
   * The filter in `scope` that comes from class options. An entity that this filter excludes, such as an entity in the
   * trash, counts as missing.
   */
  readonly present?: Filter;
  readonly version?: Filter | undefined;
  readonly options: Record<string, unknown>;
  readonly projection: Projection;
}

const BY_DISTANCE: ReadonlySet<string> = new Set(["$near", "$nearSphere"]);

/**
 * Returns the query options of hooks, with limits on the time and the size of batches. Pages without an order would
 * repeat or miss entities, so a query with `skip` or `limit` gets the order of `_id` by default.
 */
export function queryOptions(
  { options, filter, scope }: Selection,
  { maxTimeMS, order = { _id: 1 }, page = true }: {
    readonly maxTimeMS: number;
    readonly order?: Record<string, 1>;
    /** Whether the options `skip` and `limit` of hooks apply. They do not apply to the read of a single entity. */
    readonly page?: boolean;
  },
): Record<string, unknown> {
  const { skip: givenSkip, limit: givenLimit, sort: given, ...others } = options;
  const [skip, limit] = page ? [givenSkip, givenLimit] : [];
  const counts = { ...countIn("skip", skip), ...countIn("limit", limit) };
  // A hook may set no `skip`, or `NaN`, for the first page of a list. The first page must have the same sort order as
  // the other pages, so a query with only a `limit` also gets a default order.
  const paged = isGiven(skip) || (isGiven(limit) && isFreeOf([filter, scope], BY_DISTANCE));
  const sort = readSort(given) ?? (paged ? order : {});
  return {
    maxTimeMS,
    // By default, the driver refuses invalid UTF-8. A single stored text with invalid bytes would then make the whole
    // list fail.
    enableUtf8Validation: false,
    batchSize: BATCH_SIZE,
    ...others,
    ...KEEP_CONDITIONS,
    ...counts,
    ...Object.keys(sort).length > 0 && { sort },
  };
}

/**
 * Reads a sort order in any form that Mongoose takes. Returns `undefined` if no order is given, so that a default order
 * may apply. Throws if Mongoose cannot read the order.
 */
export function readSort(given: unknown): Record<string, unknown> | undefined {
  if (given === undefined || given === null) return undefined;
  const form = typeof given === "string" ? given.trim().replace(/\s+/g, " ") : given;
  const order = form === "" ? {} : new mongoose.Query().sort(form as never).getOptions().sort ?? {};
  return Object.keys(order).length === 0 ? undefined : order as Record<string, unknown>;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function countIn(name: string, value: unknown): Record<string, number> {
  // A hook may compute `skip` from a parameter that the request does not have, such as by `Number(undefined) * 20`,
  // which is `NaN`. `NaN` is therefore treated like a missing option.
  if (!isGiven(value) || Number.isNaN(value)) return {};
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= 0) return { [name]: count };
  throw badFormat(`Option "${name}" is not a count`);
}

/**
 * Throws if the option `limit` that a hook has set for a list is not a positive integer, because MongoDB would return
 * all entities for a limit that is no number.
 */
export function checkLimit({ limit }: Record<string, unknown>, what: string): void {
  if (!isGiven(limit)) return;
  const count = typeof limit === "string" || typeof limit === "number" ? Number(limit) : NaN;
  if (Number.isSafeInteger(count) && count >= 1) return;
  throw new RangeError(
    `Cannot use options.limit of a hook of ${what}: ${
      String(limit)
    } is not a whole number of at least 1`,
  );
}
