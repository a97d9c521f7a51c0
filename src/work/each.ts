import type { Connection } from "mongoose";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";

/** A Mongoose model that no class declares. */
export interface StoredModel {
  /** The connection of the model, whose database must be the one of the migration. */
  readonly db: Connection;
  /** The name of the model. */
  readonly modelName: string;
}

/** The counts of a call of {@linkcode Each}, including interrupted earlier attempts. */
export interface EachResult {
  /** The number of read entities. */
  readonly seen: number;
  /** The number of written entities. */
  readonly changed: number;
}

/**
 * Calls a function for each stored entity that matches a filter of MongoDB, in portions by `_id`. Nothing is cast or
 * validated, no hook runs, and entities of all tenants and in the trash are included.
 *
 * The function returns the fields to store, by their paths. The value `undefined` removes a field. A write raises the
 * version and `updatedAt`. If somebody else changes the entity before the write, the function is called again with the
 * new values. Equal values, or `undefined`, write nothing.
 *
 * With `history: true`, which needs a replica set, the history of the class records the changes as the operation
 * `migrate`.
 */
export type Each = <S extends object = Readonly<Record<string, unknown>>>(
  model: ModelClass | StoredModel,
  filter: object,
  change: (stored: S & { readonly _id: unknown }) => MaybePromise<object | null | undefined | void>,
  options?: { readonly history?: boolean | undefined },
) => Promise<EachResult>;
