import type { Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { TransactionRule } from "../store/writes/transact.ts";

/** Cast to the types of the fields. The value `undefined` removes a field. */
export type Stamps = Readonly<Record<string, unknown>>;

/** The values of class options are cast by `schema`. */
export interface StampedClass {
  readonly target: ModelClass;
  readonly schema: Schema;
}

/** The values and statements that class options add to each write of an entity. */
export interface Additions {
  readonly target: ModelClass;
  /** The values that class options store with a write. */
  stamps(written: StampedClass, isNew: boolean): Stamps;
  stamped(target: ModelClass): readonly string[];
  /** The values to store in the place of a removal. Missing if a removal removes the entity from the database. */
  readonly removal?: () => Stamps;
  /** Missing if class options add no statements, so that a write needs no transaction. */
  readonly rule?: TransactionRule | undefined;
}

/** A new entity can get other values than an updated one. */
export function stampsFor(
  additions: Additions | undefined,
  { schema }: Model<unknown>,
): ((isNew: boolean) => Stamps) | undefined {
  return additions &&
    ((isNew) => additions.stamps({ target: additions.target, schema: schema as Schema }, isNew));
}

/** The values for `$set` and `$unset`. */
export function operatorsFor(
  stamps: Stamps = {},
): { readonly set: Record<string, unknown>; readonly unset: Record<string, unknown> } {
  const all = Object.entries(stamps);
  const set = all.filter(([, value]) => value !== undefined);
  const unset = all.filter(([, value]) => value === undefined).map(([name]) => [name, 1]);
  return { set: Object.fromEntries(set), unset: Object.fromEntries(unset) };
}
