import mongoose from "mongoose";
import type { Connection, Model } from "mongoose";
import type { ModelClass, ModelOf } from "../declare/model/model_class.ts";
import { buildSchema, referredModels } from "./build_schema.ts";
import { addStaticAccessors } from "./class_members.ts";
import { watchIndexes } from "./index_builds.ts";
import { collectionName, modelName } from "./model_name.ts";
import { guardUnselectedMaps } from "./mongoose/documents/unselected_maps.ts";
import { checkConnection } from "./mongoose/connections/one_mongoose.ts";

const compiled = new WeakMap<Connection, Map<ModelClass, Model<unknown>>>();

/**
 * Gives Mongoose's model of a class on a connection, compiled once.
 *
 * @typeParam C The class.
 * @param target The class.
 * @param connection The connection; Mongoose's default one where none is given.
 * @returns The model, with the statics of the class.
 * @throws {TypeError} If a declaration on the class is wrong, or the connection belongs to another copy of Mongoose.
 *
 * @example A count, beside the framework
 * ```ts ignore
 * import { getModel } from "@mongrove/mongrove";
 * import { Movie } from "./movie.ts";
 *
 * const count = await getModel(Movie).countDocuments({ year: 1999 });
 * ```
 */
export function getModel<C extends ModelClass>(
  target: C,
  connection: Connection = mongoose.connection,
): ModelOf<C> {
  let models = compiled.get(connection);
  if (models === undefined) {
    checkConnection(connection);
    compiled.set(connection, models = new Map());
  }
  return (models.get(target) ?? compile(target, connection, models)) as unknown as ModelOf<C>;
}

function compile(
  target: ModelClass,
  connection: Connection,
  models: Map<ModelClass, Model<unknown>>,
): Model<unknown> {
  const built = buildSchema(target);
  const { schema } = built;
  guardUnselectedMaps(schema);
  const model = connection.model<unknown>(
    modelName(target),
    schema,
    collectionName(target, schema),
  );
  // Mongoose tells of every failure by an "error" event as well; unheard, it would end the process.
  model.on("error", () => {});
  watchIndexes(model, target.name);
  addStaticAccessors(target, model);
  models.set(target, model);
  for (const referred of referredModels(built)) getModel(referred, connection);
  return model;
}
