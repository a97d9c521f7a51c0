import type { Connection, Model } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { registeredModels } from "../../declare/model/records.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { referredClass } from "../../schema/model_name.ts";

export interface ReferredModel {
  readonly model: Model<unknown>;
  /** Its class; `undefined` for a model that the host has made with Mongoose. */
  readonly target?: ModelClass;
}

export function referredTarget({ type }: FieldShape): ModelClass | undefined {
  const ref: unknown = type?.options.ref;
  // A class that is referred to by its name may not have been used yet.
  return referredClass(ref) ?? registeredModels().find(({ name }) => name === ref);
}

/** Gives the model that a reference names, on a connection. Throws if there is none. */
export function referredModel(field: FieldShape, connection: Connection): ReferredModel {
  const { type } = field;
  const ref: unknown = type?.options.ref;
  const own = referredClass(ref) === undefined ? connection.models[String(ref)] : undefined;
  if (own !== undefined) return { model: own };
  const target = referredTarget(field);
  if (target !== undefined) {
    return { model: getModel(target, connection) as unknown as Model<unknown>, target };
  }
  throw new TypeError(
    `Cannot follow "${type?.path}": its reference names no model on the connection of the request`,
  );
}
