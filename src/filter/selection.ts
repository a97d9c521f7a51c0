import mongoose from "mongoose";
import { type Filter, isFreeOf, KEEP_CONDITIONS } from "./filters.ts";
import type { Projection } from "./projection.ts";
import { badFormat } from "../errors/refusals.ts";
import { BATCH_SIZE } from "../schema/mongoose/statements/bound_replies.ts";

export interface Selection {
  readonly filter: Filter;
  /** The conditions of `filter` that hooks have added to those of the client, if they are known. */
  readonly hookConditions?: Filter;
  /** The scopes of the level, joined. They are not cast yet. */
  readonly scope: Filter;
  readonly version?: Filter | undefined;
  readonly options: Record<string, unknown>;
  readonly projection: Projection;
}

const BY_DISTANCE: ReadonlySet<string> = new Set(["$near", "$nearSphere"]);

/** Gives the hooks' query options, with bounds on time and on batches, and with an order where pages would repeat or miss entities. */
export function queryOptions(
  { options, filter, scope }: Selection,
  { maxTimeMS, order = { _id: 1 }, page = true }: {
    readonly maxTimeMS: number;
    readonly order?: Record<string, 1>;
    /** Whether `skip` and `limit` apply: a read that names its entity does not look at them. */
    readonly page?: boolean;
  },
): Record<string, unknown> {
  const { skip: givenSkip, limit: givenLimit, sort: given, ...others } = options;
  const [skip, limit] = page ? [givenSkip, givenLimit] : [];
  const counts = { ...countIn("skip", skip), ...countIn("limit", limit) };
  // The first page may have no skip, or NaN: it has the order of the others.
  const paged = isGiven(skip) || (isGiven(limit) && isFreeOf([filter, scope], BY_DISTANCE));
  const sort = readSort(given) ?? (paged ? order : {});
  return {
    maxTimeMS,
    // One text that is no UTF-8 must not break a list.
    enableUtf8Validation: false,
    batchSize: BATCH_SIZE,
    ...others,
    ...KEEP_CONDITIONS,
    ...counts,
    ...Object.keys(sort).length > 0 && { sort },
  };
}

/** Reads an order in a form that Mongoose takes; `undefined` where none is given. Throws if it is no order. */
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
  // Pagination hooks give `NaN` where no page was asked for: `Number(undefined) * 20`.
  if (!isGiven(value) || Number.isNaN(value)) return {};
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= 0) return { [name]: count };
  throw badFormat(`Option "${name}" is not a count`);
}

/** Checks the limit that hooks gave a list: the database would take one that is no number for no limit. */
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
