import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { chainOf, describeModel, type ModelDescription } from "../declare/model/describe_model.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import { forAll } from "../errors/for_all.ts";
import { MAX_TTL_SECONDS } from "../errors/option_kinds.ts";
import { buildField } from "./build_field.ts";
import { PROTOTYPE_KEYS } from "./fields/json.ts";
import type { Shape } from "./fields/shape.ts";
import { markErrors } from "./mongoose/errors.ts";
import { hideInJson } from "./mongoose/documents/hide_in_json.ts";
import { copyMethods, markCopies } from "./mongoose/documents/mark_copies.ts";
import { declareKindKey } from "./mongoose/schemas/schema_kinds.ts";
import {
  DOCUMENT_MEMBERS,
  isInnerMember,
  isModelMember,
  refuseReplaced,
  schemasWithin,
  typesWithin,
} from "./mongoose/schemas/schema_members.ts";
import { checkMongoose } from "./mongoose/assumptions.ts";
import { castUuids } from "./mongoose/schemas/cast_uuids.ts";
import { cutTimes } from "./mongoose/schemas/cut_times.ts";
import { rememberDefault, requireId, ruleAgainstDefault } from "./mongoose/schemas/field_rules.ts";
import { refusePromises } from "./mongoose/schemas/refuse_promises.ts";
import { guardValidators } from "./mongoose/schemas/validators.ts";
import { countSaves } from "./mongoose/statements/save_by.ts";

export interface BuiltSchema {
  readonly schema: Schema;
  readonly refersTo: Set<ModelClass>;
  /**
   * The built schemas of the embedded classes. Two classes may embed each other, so a search through these schemas must
   * remember the schemas that it has visited.
   */
  readonly embeds: Set<BuiltSchema>;
}

/** Functions by which class options, such as `tenants` or `trash`, change the schema of a class while it is built. */
export interface SchemaAddition {
  /**
   * Adds the fields and indexes that the class options need, such as the field of the tenant. Runs before the method
   * `configure()` of the class.
   */
  add(target: ModelClass, schema: Schema): void;
  /**
   * Changes the indexes of the class for its class options, such as unique indexes that must be unique for each tenant.
   * Runs after the method `configure()` of the class, which may add indexes.
   */
  finish(target: ModelClass, schema: Schema): void;
}

/**
 * The functions by which class options change each schema that is built. They run for the schemas of all routers,
 * because a schema does not belong to one router.
 */
const additions = new Set<SchemaAddition>();

/**
 * Adds functions that run for each schema that is built from now on, such as the functions of class options that add
 * fields.
 */
export function addToSchemas(addition: SchemaAddition): void {
  additions.add(addition);
}

const RESERVED = new Set([...DOCUMENT_MEMBERS, ...PROTOTYPE_KEYS]);

export type BuiltSchemas = WeakMap<ModelClass, BuiltSchema>;

const usual: BuiltSchemas = new WeakMap();
const classes = new WeakMap<Schema, ModelClass>();

/**
 * Returns the model class from which the schema of a field type or of a shape was built. Returns `undefined` if the
 * schema belongs to no class, for example because `configure()` has added it.
 */
export function schemaClass(holder: SchemaType | Shape | undefined): ModelClass | undefined {
  const { schema } = (holder ?? {}) as { schema?: Schema };
  return schema && classes.get(schema);
}

/**
 * Returns the classes that a class embeds, also inside of other embedded classes. Their class options are checked and
 * applied together with the options of the class.
 */
export function embeddedClasses(target: ModelClass): ModelClass[] {
  const { schema } = buildSchema(target);
  return [...schemasWithin(schema)].flatMap((each) =>
    each === schema ? [] : classes.get(each) ?? []
  );
}

/**
 * Returns the schema of a class for connections with the plugins of the default connection. `schema` may be the schema
 * of the same class for a connection with other plugins. Shapes are described from the returned schema, so all
 * connections share them. A `schema` that belongs to no class is returned unchanged.
 */
export function usualSchema(schema: Schema): Schema {
  const target = classes.get(schema);
  return target === undefined ? schema : buildSchema(target).schema;
}

export function isBuilt(target: ModelClass): boolean {
  return usual.has(target);
}

/**
 * Builds the schema of a class, once for each set of plugins, because Mongoose applies plugins to a schema only once.
 * `built` caches the schemas of all connections with the same plugins.
 */
export function buildSchema(target: ModelClass, built: BuiltSchemas = usual): BuiltSchema {
  const known = built.get(target);
  if (known !== undefined) return known;
  checkMongoose();
  const description = describeModel(target);
  const result = {
    // With Mongoose's default for `minimize`, an empty object from a client would not be stored, although the response
    // contains it. The option is therefore off.
    schema: new mongoose.Schema({}, { minimize: false, ...description.schemaOptions }),
    refersTo: new Set<ModelClass>(),
    embeds: new Set<BuiltSchema>(),
  };
  built.set(target, result);
  classes.set(result.schema, target);
  try {
    fillSchema(description, { ...result, built });
  } catch (error) {
    built.delete(target);
    throw error;
  }
  return result;
}

export function referredModels(schema: BuiltSchema, seen = new Set<BuiltSchema>()): ModelClass[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const inner = [...schema.embeds].flatMap((each) => referredModels(each, seen));
  return [...schema.refersTo, ...inner];
}

function fillSchema(
  description: ModelDescription,
  { schema, refersTo, embeds, built }: BuiltSchema & { readonly built: BuiltSchemas },
): void {
  const { target, fields, parts } = description;
  const embed = (embedded: ModelClass): Schema => {
    const inner = buildSchema(embedded, built);
    embeds.add(inner);
    return inner.schema;
  };
  const idOf = (referred: ModelClass) => buildSchema(referred).schema.path("_id");
  // A class that refers to itself needs the type of its `_id` for its other fields.
  const idFirst = [...fields].sort(([a], [b]) => Number(b === "_id") - Number(a === "_id"));
  forAll(idFirst, ([name, field]) =>
    naming(target, () => {
      refuseReserved(name);
      if (field.options.apart === true && !parts.has(name)) {
        throw new TypeError(`property "${name}" is apart and has no @rest: nothing would show it`);
      }
      const { definition, refersTo: referred } = buildField(field, { of: embed, idOf });
      schema.add({ [name]: definition } as Parameters<Schema["add"]>[0]);
      rememberDefault(schema.path(name));
      if (referred !== undefined) refersTo.add(referred);
    }));
  naming(target, () => {
    addClassMembers(target, schema);
    for (const { add } of additions) add(target, schema);
    (target as typeof FrameworkModel).configure?.(schema);
    for (const { finish } of additions) finish(target, schema);
    for (const each of schemasWithin(schema)) refuseReplaced(each);
    if (description.rests.length > 0) requireId(schema);
    refuseNestedVersion(schema);
    refuseInnerMaps(schema);
    refuseExpiry(schema);
  });
  forAll(Object.values(schema.paths), (type) => naming(target, () => refuseDefault(type)));
  addVersion(description, schema);
  declareKindKey(schema);
  hideInJson(schema);
  markErrors(schema, target);
  castUuids(schema);
  cutTimes(schema);
  countSaves(schema);
  guardValidators(schema);
  refusePromises(schema);
  markCopies(schema);
  hideWithin(schema);
}

/**
 * A class that Mongoose generates for embedded documents. The prototype of the class holds copies of the schema's
 * methods, so a method that is added to the schema later must be copied to the prototype.
 */
interface EmbeddedClass {
  readonly schema: Schema;
  readonly prototype: object;
  readonly discriminators?: Readonly<Record<string, EmbeddedClass>> | null;
}

const hiding = new WeakSet<Schema>();

/**
 * Makes the documents of a schema hide their hidden fields in JSON and in copies, and refuse promises that the
 * application has forgotten to await. This function is for schemas that belong to no model class, such as the schema of
 * a discriminator, because `buildSchema()` does not build such schemas.
 */
export function hideAdded(schema: Schema): void {
  castUuids(schema);
  cutTimes(schema);
  hideInJson(schema);
  refusePromises(schema);
  markCopies(schema);
  hideWithin(schema);
}

/**
 * Applies the rules of hidden fields to embedded schemas that `configure()` has added. Such a schema belongs to no
 * model class, so `buildSchema()` has not applied the rules to it, and JSON would show its hidden fields.
 */
export function hideWithin(schema: Schema): void {
  const held = Object.values(schema.paths).flatMap(typesWithin).flatMap((type) => {
    const { Constructor: held } = type as { readonly Constructor?: Partial<EmbeddedClass> };
    return held?.schema === undefined ? [] : [held as EmbeddedClass];
  });
  for (const each of held.flatMap((one) => [one, ...Object.values(one.discriminators ?? {})])) {
    if (classes.has(each.schema)) continue;
    if (!hiding.has(each.schema)) {
      hiding.add(each.schema);
      hideAdded(each.schema);
    }
    Object.assign(each.prototype, copyMethods(each.schema));
  }
}

function refuseDefault(type: SchemaType): void {
  const rule = ruleAgainstDefault(type);
  if (rule === undefined) return;
  throw new TypeError(`property "${type.path}" has a "default" that its "${rule}" refuses`);
}

/** Throws if an index removes documents after a time that MongoDB cannot count, because it would remove none. */
function refuseExpiry(schema: Schema): void {
  for (const [keys, { expireAfterSeconds: seconds = 0 }] of schema.indexes()) {
    if (seconds >= 0 && seconds <= MAX_TTL_SECONDS) continue;
    throw new TypeError(
      `the index of "${
        Object.keys(keys).join()
      }" expires after ${seconds} seconds: use up to ${MAX_TTL_SECONDS}`,
    );
  }
}

/**
 * Throws if a Map with `select: false` lies inside an object with `select: false`. Mongoose would exclude the paths of
 * both in one projection, and MongoDB refuses a query with such a projection.
 */
function refuseInnerMaps(schema: Schema): void {
  for (const [path, type] of Object.entries(schema.paths)) {
    const { schema: inner } = type as { readonly schema?: Schema };
    const map = inner && type.options.select === false ? unselectedMap(inner, []) : undefined;
    if (map !== undefined) {
      throw new TypeError(`"${path}.${map}" needs no "select: false": "${path}" has it already`);
    }
  }
}

function unselectedMap(schema: Schema, above: readonly Schema[]): string | undefined {
  if (above.includes(schema)) return undefined;
  for (const [path, type] of Object.entries(schema.paths)) {
    const { schema: inner } = type as { readonly schema?: Schema };
    if (type.instance === "Map" && type.options.select === false) return path;
    const map = inner && unselectedMap(inner, [...above, schema]);
    if (map !== undefined) return `${path}.${map}`;
  }
  return undefined;
}

/**
 * Throws if the schema option `versionKey` is a path with a dot. Mongoose would read the version at one path and
 * increment the version at another path, so a client would not notice a change.
 */
function refuseNestedVersion(schema: Schema): void {
  const key: unknown = schema.get("versionKey");
  if (typeof key === "string" && key.includes(".")) {
    throw new TypeError(`"versionKey" has to name a field, and "${key}" is a path`);
  }
}

/**
 * Adds the version field to the schema of a class with routes. Mongoose adds the version field only when it compiles a
 * model. Filters on the version are compiled earlier, before the first connection, so they would not find the field.
 */
function addVersion({ rests }: ModelDescription, schema: Schema): void {
  const key: unknown = schema.get("versionKey");
  if (rests.length === 0 || typeof key !== "string" || schema.path(key) !== undefined) return;
  schema.add({ [key]: Number } as Parameters<Schema["add"]>[0]);
}

/**
 * Throws if a field has the name of a member of Mongoose's documents, such as `save`. The field would replace that
 * member, and saving or reading would fail.
 */
function refuseReserved(name: string): void {
  if (name === "_id" || name === "id") return;
  if (name in mongoose.Model.prototype || RESERVED.has(name) || /^\$|\./.test(name)) {
    throw memberOfDocuments("property", name);
  }
}

function memberOfDocuments(kind: "property" | "member", name: string): TypeError {
  return new TypeError(`${kind} "${name}" has the name of a member of Mongoose's documents`);
}

function naming(target: ModelClass, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error) || error.message.startsWith("Cannot ")) throw error;
    throw new TypeError(`Cannot build the schema of "${target.name}": ${error.message}`, {
      cause: error,
    });
  }
}

/**
 * The names of the statics that are not copied to the model of a class. Every function has `length`, `name` and
 * `prototype`, and the framework reads `configure` and `schemaOptions` from the class.
 */
const OWN_STATICS = new Set(["length", "name", "prototype", "configure", "schemaOptions"]);

/**
 * Matches the source text of a class member that accesses a `#private` member. The class member would throw on a
 * document, because a document is not an instance of the class.
 */
const PRIVATE_ACCESS = /\bthis\s*\??\.\s*#[\p{ID_Start}$_]/u;

/**
 * Adds the methods, getters, setters and statics of a class and its ancestors to a Mongoose schema, so that the
 * documents and the model have them.
 */
function addClassMembers(target: ModelClass, schema: Schema): void {
  // A getter or setter of a subclass replaces the inherited getter or setter. If the schema had both, Mongoose would
  // run both, one after another.
  const members = new Map<string, PropertyDescriptor>();
  for (const owner of chainOf(target)) {
    const own = Object.getOwnPropertyDescriptors(owner.prototype);
    for (const [name, member] of Object.entries(own)) {
      if (name === "constructor") continue;
      if (isInnerMember(name)) throw memberOfDocuments("member", name);
      for (const part of [member.value, member.get, member.set]) refusePrivate(name, part);
      members.set(name, member);
    }
  }
  for (const member of members) addInstanceMember(schema, member);
  for (const [name, member] of staticsOf(target)) {
    if ("value" in member) schema.static(name, member.value);
  }
}

function addInstanceMember(schema: Schema, [name, member]: [string, PropertyDescriptor]): void {
  const { value, get, set } = member;
  if (typeof value === "function") return void schema.method(name, value);
  if (schema.path(name) !== undefined) return;
  const virtual = schema.virtual(name);
  if (get !== undefined) virtual.get(get);
  if (set !== undefined) virtual.set(set);
}

/**
 * Defines the static getters and setters of a class and its ancestors on the model of the class. Mongoose copies only
 * static values to a model, so the model would lack the getters and setters.
 */
export function addStaticAccessors(target: ModelClass, model: object): void {
  for (const [name, member] of staticsOf(target)) {
    if (!("value" in member)) Object.defineProperty(model, name, member);
  }
}

/**
 * Returns the static members that the model of a class gets. A member with the name of a member of Mongoose's models
 * stays on the class alone, as the type `ModelOf` says.
 */
function staticsOf(target: ModelClass): [string, PropertyDescriptor][] {
  const members = chainOf(target).flatMap((each) =>
    Object.entries(Object.getOwnPropertyDescriptors(each))
  );
  return members.filter(([name]) => !OWN_STATICS.has(name) && !isModelMember(name));
}

function refusePrivate(name: string, member: unknown): void {
  if (
    typeof member === "function" && PRIVATE_ACCESS.test(Function.prototype.toString.call(member))
  ) {
    throw new TypeError(
      `member "${name}" works on a #private member, which a document could not serve`,
    );
  }
}
