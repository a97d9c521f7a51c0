import type { Connection, Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/model_class.ts";
import { makeDetachedConnection } from "./mongoose/connections.ts";
import { buildSchema, referredModels } from "./build_schema.ts";
import { getModel } from "./get_model.ts";
import { modelName } from "./model_name.ts";

const compiled = new WeakMap<Connection, WeakMap<ModelClass, Model<unknown>>>();
const detached = new WeakMap<ModelClass, Model<unknown>>();

/** Gives a model without a collection, which makes documents of what is stored inside others. */
export function embeddedModel(target: ModelClass, connection: Connection): Model<unknown> {
  const known = compiled.get(connection)?.get(target);
  if (known !== undefined) return known;
  const model = compile(target, connection);
  const models = compiled.get(connection) ?? new WeakMap<ModelClass, Model<unknown>>();
  compiled.set(connection, models.set(target, model));
  for (const referred of referredModels(buildSchema(target))) getModel(referred, connection);
  return model;
}

/** Gives a model of a class that casts and validates, and has no database: no other model is compiled for it. */
export function detachedModel(target: ModelClass): Model<unknown> {
  let model = detached.get(target);
  if (model === undefined) {
    detached.set(target, model = compile(target, makeDetachedConnection()));
  }
  return model;
}

function compile(target: ModelClass, connection: Connection): Model<unknown> {
  // Only a root has a version.
  const own = buildSchema(target).schema.clone().set("autoCreate", false).set("autoIndex", false)
    .set("autoSearchIndex", false).set("versionKey", false) as Schema;
  const model = connection.model<unknown>(`${modelName(target)}~embedded`, own);
  model.on("error", () => {});
  return model;
}
