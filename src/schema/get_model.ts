import mongoose from "mongoose";
import type { Connection, Model, Schema } from "mongoose";
import type { ModelClass, ModelOf } from "../declare/model/framework_model.ts";
import { adoptionOf } from "./adopted/adoption.ts";
import { standBehind } from "./adopted/stand_behind.ts";
import {
  addStaticAccessors,
  buildSchema,
  type BuiltSchemas,
  hideAdded,
  hideWithin,
  referredClasses,
} from "./build_schema.ts";
import { checkKindOf, describeShape } from "./fields/shape.ts";
import { watchIndexes } from "./index_builds.ts";
import { memoize } from "./memoize.ts";
import { collectionName, modelName } from "./model_name.ts";
import { checkConnection, makeDetachedConnection } from "./mongoose/connections.ts";
import { dropReferencedObjects } from "./mongoose/documents/referenced_objects.ts";
import { keepLoaded } from "./mongoose/documents/keep_loaded.ts";
import { dropUnreadable } from "./mongoose/documents/unreadable_values.ts";
import { changeAsBase } from "./mongoose/schemas/change_indexes.ts";
import { castUuids } from "./mongoose/schemas/cast_uuids.ts";
import { cutTimes } from "./mongoose/schemas/cut_times.ts";
import { copyConstraints } from "./mongoose/schemas/field_rules.ts";
import { watchKinds } from "./mongoose/schemas/schema_kinds.ts";
import {
  copyPluginMark,
  refuseReplaced,
  schemasWithin,
} from "./mongoose/schemas/schema_members.ts";
import { runOutside } from "./mongoose/statements/transaction_around.ts";

const models = new WeakMap<Connection, WeakMap<ModelClass, Model<unknown>>>();

/**
 * Returns the Mongoose model of a class on a connection. Each model is compiled once per connection.
 *
 * @param connection The default is `mongoose.connection`, or the connection of an adopted model.
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
  connection?: Connection,
): ModelOf<C> {
  return untypedModel(target, connection) as unknown as ModelOf<C>;
}

export function untypedModel(
  target: ModelClass,
  connection: Connection = adoptionOf(target)?.connection ?? mongoose.connection,
): Model<unknown> {
  const cached = models.get(connection)?.get(target);
  // A compilation builds indexes, which MongoDB allows in no transaction.
  return cached ?? runOutside(() => compile(target, connection));
}

/** Compiles no model, because that would create its collection. */
export async function storedClasses(
  targets: readonly ModelClass[],
  connection: Connection,
): Promise<ModelClass[]> {
  const isKnown = (target: ModelClass) => models.get(connection)?.has(target) === true;
  if (targets.every(isKnown)) return [...targets];
  const nameOf = (target: ModelClass) => collectionName(target, buildSchema(target).schema);
  const options = { nameOnly: true, authorizedCollections: true } as const;
  const stored = await connection.db?.listCollections({}, options).toArray() ?? [];
  const names = new Set(stored.map(({ name }) => name));
  return targets.filter((target) => isKnown(target) || names.has(nameOf(target)));
}

function compile(target: ModelClass, connection: Connection): Model<unknown> {
  checkConnection(connection);
  const adoption = adoptionOf(target);
  if (adoption !== undefined && connection !== (adoption.connection ?? mongoose.connection)) {
    throw new TypeError(`Cannot compile "${target.name}": its model is on another connection`);
  }
  const { schema } = buildSchema(target, schemasFor(connection));
  dropReferencedObjects(schema);
  dropUnreadable(schema);
  keepLoaded(schema);
  const collection = collectionName(target, schema);
  const name = modelName(target);
  if (connection.models[name] !== undefined) {
    throw new TypeError(
      `Cannot compile "${target.name}": the connection has a model "${name}" already. Use getModel(${target.name}) in ` +
        `the place of mongoose.model("${name}"), and one copy of the framework`,
    );
  }
  const model = connection.model<unknown>(name, schema, collection);
  try {
    // The connection's plugins, which Mongoose applies only now, may have replaced members of the model.
    for (const each of schemasWithin(model.schema as Schema)) refuseReplaced(each);
  } catch (cause) {
    connection.deleteModel(name);
    throw new TypeError(`Cannot compile "${target.name}": ${(cause as Error).message}`, { cause });
  }
  // Without a listener, the "error" event of a failed build would end the process.
  model.on("error", () => {});
  watchIndexes(model, target);
  guardKinds(model);
  if (adoption !== undefined) standBehind(adoption.model, model);
  addStaticAccessors(target, model);
  models.set(connection, (models.get(connection) ?? new WeakMap()).set(target, model));
  compileReferred(target, connection);
  return model;
}

function compileReferred(target: ModelClass, connection: Connection): void {
  for (const referred of referredClasses(buildSchema(target))) getModel(referred, connection);
}

export function embeddedModel(target: ModelClass, connection: Connection): Model<unknown> {
  const cached = connection.models[embeddedName(target)];
  if (cached !== undefined) return cached;
  const model = compileEmbedded(target, connection);
  compileReferred(target, connection);
  return model;
}

function embeddedName(target: ModelClass): string {
  return `${modelName(target)}~embedded`;
}

/** A model that only casts and validates, without a database. */
export const detachedModel = memoize((target: ModelClass): Model<unknown> => {
  const connection = makeDetachedConnection();
  connection.plugins.push(...usualPlugins());
  return compileEmbedded(target, connection);
});

function compileEmbedded(target: ModelClass, connection: Connection): Model<unknown> {
  const { schema } = buildSchema(target, schemasFor(connection));
  dropReferencedObjects(schema);
  dropUnreadable(schema);
  keepLoaded(schema);
  const own = schema.clone().set("autoCreate", false).set("autoIndex", false)
    .set("autoSearchIndex", false).set("versionKey", false) as Schema;
  for (const [path, type] of Object.entries(own.paths)) copyConstraints(schema.path(path), type);
  castUuids(own);
  cutTimes(own);
  copyPluginMark(schema, own);
  const model = connection.model<unknown>(embeddedName(target), own);
  model.on("error", () => {});
  guardKinds(model);
  return model;
}

/** Must run after the compilation, in which Mongoose builds the schemas of discriminators. */
function guardKinds(model: Model<unknown>): void {
  const schema = model.schema as Schema;
  for (const each of schemasWithin(schema)) hideWithin(each);
  const finish = (kind: Schema) => {
    hideAdded(kind);
    changeAsBase(schema, kind);
  };
  watchKinds(model, {
    check(name, kind) {
      refuseReplaced(kind);
      checkKindOf(describeShape(schema), { name, kind: describeShape(kind.clone() as Schema) });
    },
    finish,
  });
}

type Plugin = readonly [apply: object, options?: unknown];

interface PluginSchemas {
  readonly plugins: readonly Plugin[];
  readonly built: BuiltSchemas;
}

/** The default connection's plugins at the first compilation. */
let usual: readonly Plugin[] | undefined;

const withoutPlugins: BuiltSchemas = new WeakMap();

const withPlugins = new WeakMap<object, PluginSchemas[]>();

/** Only connections with the same plugins share schemas. `undefined` means the default connection's. */
function schemasFor({ plugins }: Connection): BuiltSchemas | undefined {
  if (isSame(plugins, usualPlugins())) return undefined;
  const [first] = plugins as readonly Plugin[];
  if (first === undefined) return withoutPlugins;
  const [apply] = first;
  const cached = withPlugins.get(apply) ?? [];
  let found = cached.find((each) => isSame(each.plugins, plugins));
  if (found === undefined) {
    found = { plugins: [...plugins], built: new WeakMap() };
    withPlugins.set(apply, [...cached, found]);
  }
  return found.built;
}

function usualPlugins(): readonly Plugin[] {
  return usual ??= [...mongoose.connection.plugins];
}

function isSame(some: readonly Plugin[], others: readonly Plugin[]): boolean {
  return some.length === others.length &&
    some.every(([apply, options], index) =>
      apply === others[index]?.[0] && options === others[index]?.[1]
    );
}
