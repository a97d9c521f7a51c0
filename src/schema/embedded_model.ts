import type { Connection, Model, Schema } from "mongoose";
import type { ModelClass } from "../model/model_class.ts";
import { buildSchema, referredModels } from "./build_schema.ts";
import { getModel } from "./get_model.ts";
import { modelName } from "./model_name.ts";

const compiled = new WeakMap<Connection, Map<ModelClass, Model<unknown>>>();

/**
 * Gives a model of a class whose entities live inside others: it makes documents of them, for hooks, bodies and
 * validators, and has no collection of its own.
 */
export function embeddedModel(target: ModelClass, connection: Connection): Model<unknown> {
  let models = compiled.get(connection);
  if (models === undefined) compiled.set(connection, models = new Map());
  const known = models.get(target);
  if (known !== undefined) return known;
  const built = buildSchema(target);
  // Only a root has a version.
  const own = built.schema.clone()
    .set("autoCreate", false).set("autoIndex", false).set("versionKey", false) as Schema;
  const model = connection.model<unknown>(`${modelName(target)}~embedded`, own);
  model.on("error", () => {});
  models.set(target, model);
  for (const referred of referredModels(built)) getModel(referred, connection);
  return model;
}
