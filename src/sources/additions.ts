import type { Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { Stamps } from "../store/values.ts";
import type { TransactionRule } from "../store/writes/transact.ts";

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
