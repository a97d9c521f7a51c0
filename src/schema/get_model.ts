import mongoose from "mongoose";
import type { Connection, Model } from "mongoose";
import type { ModelClass, ModelOf } from "../declare/model/model_class.ts";
import { buildSchema, referredModels } from "./build_schema.ts";
import { addStaticAccessors } from "./class_members.ts";
import { watchIndexes } from "./index_builds.ts";
import { collectionName, modelName } from "./model_name.ts";
import { logUnrecognised } from "./mongoose/assumptions.ts";
import { checkConnection } from "./mongoose/connections.ts";

const compiled = new WeakMap<Connection, WeakMap<ModelClass, Model<unknown>>>();

/**
 * Returns the Mongoose model of a class on a connection. Each model is compiled once per connection.
 *
 * @typeParam C The class.
 * @param target The class.
 * @param connection The connection. The default is `mongoose.connection`.
 * @returns The model, with the static members of the class.
 * @throws {TypeError} If a declaration on the class is wrong, or the connection belongs to another copy of Mongoose.
 *
 * @example Count entities in your own code
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
  const known = compiled.get(connection)?.get(target);
  return (known ?? compile(target, connection)) as unknown as ModelOf<C>;
}

function compile(target: ModelClass, connection: Connection): Model<unknown> {
  checkConnection(connection);
  const built = buildSchema(target);
  const { schema } = built;
  const model = connection.model<unknown>(
    modelName(target),
    schema,
    collectionName(target, schema),
  );
  // Mongoose tells of every failure by an "error" event as well; unheard, it would end the process.
  model.on("error", () => {});
  watchIndexes(model, target);
  addStaticAccessors(target, model);
  const models = compiled.get(connection) ?? new WeakMap<ModelClass, Model<unknown>>();
  compiled.set(connection, models.set(target, model));
  logUnrecognised(model);
  for (const referred of referredModels(built)) getModel(referred, connection);
  return model;
}
