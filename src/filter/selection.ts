import mongoose from "mongoose";
import { type Filter, isFreeOf, KEEP_CONDITIONS } from "./filters.ts";
import type { Projection } from "./projection.ts";
import { badFormat } from "../errors/refusals.ts";
import { BATCH_SIZE } from "../schema/mongoose/statements/bound_replies.ts";

export interface Selection {
  readonly filter: Filter;
  /**
   * The part of `filter` from hooks. A cursor may name an entity that the client's filter excludes, but none that hooks
   * hide.
   */
  readonly hookConditions?: Filter;
  /** The option `scope` and class options, not cast yet. Every read and write must apply them. */
  readonly scope: Filter;
  /** The part of `scope` from class options. An entity that it excludes counts as missing. */
  readonly classConditions?: Filter;
  readonly version?: Filter | undefined;
  readonly options: Record<string, unknown>;
  readonly projection: Projection;
}

const BY_DISTANCE: ReadonlySet<string> = new Set(["$near", "$nearSphere"]);

/** Pages without an order would repeat or miss entities. */
export function queryOptions(
  { options, filter, scope }: Selection,
  { maxTimeMS, order = { _id: 1 }, page = true }: {
    readonly maxTimeMS: number;
    readonly order?: Record<string, 1>;
    /** `false` if `skip` and `limit` of hooks do not apply. */
    readonly page?: boolean;
  },
): Record<string, unknown> {
  const { skip: givenSkip, limit: givenLimit, sort: given, ...others } = options;
  const [skip, limit] = page ? [givenSkip, givenLimit] : [];
  const counts = { ...countIn("skip", skip), ...countIn("limit", limit) };
  // The first page has only `limit`, but needs the order of later pages. `$near` sorts by distance already.
  const paged = isGiven(skip) || (isGiven(limit) && isFreeOf([filter, scope], BY_DISTANCE));
  const sort = readSort(given) ?? (paged ? order : {});
  return {
    maxTimeMS,
    // The driver refuses invalid UTF-8, so a single stored text would make the whole list fail.
    enableUtf8Validation: false,
    batchSize: BATCH_SIZE,
    ...others,
    ...KEEP_CONDITIONS,
    ...counts,
    ...Object.keys(sort).length > 0 && { sort },
  };
}

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
  // A hook may compute `skip` from a missing parameter, which gives `NaN`.
  if (!isGiven(value) || Number.isNaN(value)) return {};
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= 0) return { [name]: count };
  throw badFormat(`Option "${name}" is not a count`);
}

/** MongoDB would return all entities for a limit that is no number. */
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
