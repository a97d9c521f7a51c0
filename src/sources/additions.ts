import type { Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { Stamps } from "../store/values.ts";
import type { AddedStatements } from "../store/writes/transact.ts";

export interface StampedClass {
  readonly target: ModelClass;
  readonly schema: Schema;
}

export interface Additions {
  readonly target: ModelClass;
  stamps(written: StampedClass, isNew: boolean): Stamps;
  stamped(target: ModelClass): readonly string[];
  /** Without this function, a removal removes the entity from the database. */
  readonly removal?: () => Stamps;
  readonly addedStatements?: AddedStatements | undefined;
}

export function stampsFor(
  additions: Additions | undefined,
  { schema }: Model<unknown>,
): ((isNew: boolean) => Stamps) | undefined {
  return additions &&
    ((isNew) => additions.stamps({ target: additions.target, schema: schema as Schema }, isNew));
}
