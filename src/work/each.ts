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

/** The numbers of entities of a call of {@linkcode Each}, with those before an interruption. */
export interface EachResult {
  /** The number of entities that were read. */
  readonly seen: number;
  /** The number of entities that were written. */
  readonly changed: number;
}

/**
 * Calls a function for each stored entity that matches a filter of MongoDB, in portions by `_id`. Filter, values and
 * changes are as stored: nothing is cast or validated, no hook runs, and entities of all tenants and of the trash count.
 *
 * The function returns the fields to store, by their paths. `undefined` as the value of a field removes it. A write
 * raises the version and `updatedAt`. If another write has come between, the function is called again with the new
 * values. Equal values and `undefined` write nothing.
 *
 * With `history: true`, the history of the class records the changes, as the operation `migrate`. It needs a replica set.
 */
export type Each = <S extends object = Readonly<Record<string, unknown>>>(
  model: ModelClass | StoredModel,
  filter: object,
  change: (stored: S & { readonly _id: unknown }) => MaybePromise<object | null | undefined | void>,
  options?: { readonly history?: boolean | undefined },
) => Promise<EachResult>;
