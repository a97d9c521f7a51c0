import mongoose, { type Connection, type Model, type Schema } from "mongoose";
import { FrameworkModel, type ModelClass } from "../declare/model/framework_model.ts";
import {
  createRecords,
  isRegistryClosed,
  registerModel,
  type RestRecord,
} from "../declare/model/records.ts";
import { classOfModel, type Names, rememberAdoption } from "../schema/adopted/adoption.ts";
import { embeddedSchema, typesOf } from "../schema/adopted/paths.ts";
import { memoize } from "../schema/memoize.ts";
import { isGroup } from "../errors/option_kinds.ts";
import { checkConnection } from "../schema/mongoose/connections.ts";
import type { Adopted, AdoptedModel, AdoptOptions } from "./options.ts";

interface Declared {
  readonly model: Model<unknown>;
  readonly connection: Connection | undefined;
  readonly shown: Names;
  readonly virtuals: ReadonlySet<string>;
  readonly writable: Names;
  readonly rests: readonly RestRecord[];
  readonly parts: ReadonlyMap<string, readonly RestRecord[]>;
}

/**
 * Makes routes for an existing Mongoose model, which keeps its schema, middleware and indexes. The routes validate,
 * save and show documents as the model does.
 *
 * @returns A class for `models`, `ref`, `Framework.queryFor()`, `mcp()` and `admin()`.
 * @throws {TypeError} If an option is wrong, or the model belongs to another copy of Mongoose. `Framework.initialize()`
 * throws if the routes cannot behave as the model does.
 */
export function adopt<X extends AdoptedModel>(model: X, options: AdoptOptions<X>): Adopted<X> {
  const declared = readOptions(model, options);
  const { [declared.model.modelName]: target } = {
    [declared.model.modelName]: class extends FrameworkModel {},
  } as Record<string, ModelClass>;
  declareClass(target as ModelClass, declared);
  return target as Adopted<X>;
}

function declareClass(
  target: ModelClass,
  { rests, parts, connection, ...given }: Declared,
): void {
  const { model, shown } = given;
  const records = createRecords(target);
  const classes = new Map<string, ModelClass>();
  for (const [path, type] of typesOf(model.schema as Schema)) {
    const [name = "", ...below] = path.split(".");
    const ofPart = below.length === 0 ? parts.get(name) : undefined;
    const isList = type.instance === "Array";
    let options = {};
    if (ofPart !== undefined) {
      const part = partClass(`${target.name}${name.charAt(0).toUpperCase()}${name.slice(1)}`);
      classes.set(name, part);
      records.parts.set(name, [...ofPart]);
      // Answers of the model show all of this property, because `shown` lists it. If scopes or hooks limit its own
      // routes, the start fails without `apart: false`.
      const apart = shown !== "all" && shown.has(name) ? { apart: false } : {};
      options = { ...isList ? { items: part, embedded: true } : { type: part }, ...apart };
    }
    records.fields.set(name, { name, array: isList && below.length === 0, options });
  }
  const adoption = { ...given, parts: classes, ...connection && { connection } };
  for (const [path, part] of classes) rememberAdoption(part, { ...adoption, path });
  rememberAdoption(target, adoption);
  records.rests.push(...rests);
  registerModel(target);
}

function partClass(name: string): ModelClass {
  const { [name]: part } = { [name]: class extends FrameworkModel {} };
  createRecords(part as ModelClass);
  return part as ModelClass;
}

function readOptions(given: unknown, options: unknown): Declared {
  const { modelName, db } = Object(given) as { modelName?: unknown; db?: unknown };
  const name = typeof modelName === "string" ? `"${modelName}"` : "what is given";
  const fail = (problem: string) => new TypeError(`Cannot adopt ${name}: ${problem}`);
  if (typeof modelName !== "string") throw fail("it is no Mongoose model");
  try {
    checkConnection(db);
  } catch (cause) {
    throw fail((cause as Error).message.replace(/^Cannot use the connection: it/, "it"));
  }
  const model = given as Model<unknown>;
  if (classOfModel(model) !== undefined) {
    throw fail(`it is adopted already: give "rest" a list for several routes`);
  }
  if (isRegistryClosed()) {
    throw fail("Framework.initialize() has mounted the models already: adopt the model before");
  }
  if (!isObject(options)) throw fail("its options are no object");
  const { shown, virtuals = [], writable, rest, parts = {}, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined) throw fail(`adopt() has no option "${other}"`);
  const names = { shown: namesIn(shown), writable: namesIn(writable) };
  for (const [list, value] of Object.entries(names)) {
    if (value === undefined) throw fail(`"${list}" is neither "all" nor a list of paths`);
  }
  const shownVirtuals = namesIn(virtuals);
  if (shownVirtuals === undefined || shownVirtuals === "all") {
    throw fail(`"virtuals" is no list of names`);
  }
  const connection = model.db === mongoose.connection ? undefined : model.db as Connection;
  return {
    model,
    connection,
    shown: names.shown as Names,
    virtuals: shownVirtuals,
    writable: names.writable as Names,
    rests: restsIn(rest, { name: "rest", fail }).map((each) => onConnection(each, connection)),
    parts: partsIn(parts, { schema: model.schema as Schema, fail }),
  };
}

type Fail = (problem: string) => TypeError;

function namesIn(given: unknown): Names | undefined {
  if (given === "all") return given;
  const isList = Array.isArray(given) && given.every((each) => typeof each === "string");
  return isList ? new Set(given) : undefined;
}

const OF_MODEL = ["schemaOptions", "getConnection"];

function restsIn(
  given: unknown,
  { name, fail }: { readonly name: string; readonly fail: Fail },
): RestRecord[] {
  const list = [given].flat();
  if (given === undefined || list.length === 0) throw fail(`"${name}" has no route`);
  return list.map((each) => {
    if (!isObject(each)) throw fail(`"${name}" is neither an object nor a list of objects`);
    const own = OF_MODEL.find((option) => each[option] !== undefined);
    if (own !== undefined) {
      throw fail(`"${name}" has "${own}", and the model has its own schema and connection`);
    }
    if (!Array.isArray(each.methods)) throw fail(`"${name}" has no list of "methods"`);
    return { ...each } as unknown as RestRecord;
  });
}

function onConnection(rest: RestRecord, connection: Connection | undefined): RestRecord {
  return connection === undefined ? rest : { ...rest, getConnection: connectionGetter(connection) };
}

/** Memoized, because routes share a connection only if their `getConnection` is the same function. */
const connectionGetter = memoize((connection: Connection) => () => connection);

function partsIn(
  given: unknown,
  { schema, fail }: { readonly schema: Schema; readonly fail: Fail },
): Map<string, readonly RestRecord[]> {
  if (!isObject(given)) throw fail(`"parts" is no object`);
  return new Map(
    Object.entries(given).filter(([, part]) => part !== undefined).map(([name, part]) => {
      const type = Object.hasOwn(schema.paths, name) ? schema.path(name) : undefined;
      if (type === undefined || type.instance === "Map" || embeddedSchema(type) === undefined) {
        throw fail(`"parts" names "${name}", which holds no embedded objects`);
      }
      return [name, restsIn(part, { name: `parts.${name}`, fail })];
    }),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return isGroup(value);
}
