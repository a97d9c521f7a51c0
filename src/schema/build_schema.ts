import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { chainOf, describeModel, type ModelDescription } from "../declare/model/describe_model.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import { forAll } from "../errors/for_all.ts";
import { type Adoption, adoptionOf } from "./adopted/adoption.ts";
import {
  checkModel,
  checkRests,
  checkShownNames,
  hintAtSecrets,
  refuseAdded,
} from "./adopted/check_adopted.ts";
import { copyAdopted } from "./adopted/copy_schema.ts";
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
import {
  constraintAgainstDefault,
  rememberDefault,
  requireId,
} from "./mongoose/schemas/field_rules.ts";
import { refusePromises } from "./mongoose/schemas/refuse_promises.ts";
import { guardValidators } from "./mongoose/schemas/validators.ts";
import { countSaves } from "./mongoose/statements/save_by.ts";

export interface BuiltSchema {
  readonly schema: Schema;
  readonly refersTo: Set<ModelClass>;
  readonly embeds: Set<BuiltSchema>;
}

export interface SchemaAddition {
  add(target: ModelClass, schema: Schema): void;
  /** Changes the schema after `configure()`, which may have added indexes. */
  finish(target: ModelClass, schema: Schema): void;
}

const additions = new Set<SchemaAddition>();

export function addToSchemas(addition: SchemaAddition): void {
  additions.add(addition);
}

const RESERVED = new Set([...DOCUMENT_MEMBERS, ...PROTOTYPE_KEYS]);

export type BuiltSchemas = WeakMap<ModelClass, BuiltSchema>;

const usual: BuiltSchemas = new WeakMap();
const classes = new WeakMap<Schema, ModelClass>();

export function schemaClass(holder: SchemaType | Shape | undefined): ModelClass | undefined {
  const { schema } = (holder ?? {}) as { schema?: Schema };
  return schema && classes.get(schema);
}

export function embeddedClasses(target: ModelClass): ModelClass[] {
  const { schema } = buildSchema(target);
  return [...schemasWithin(schema)].flatMap((each) =>
    each === schema ? [] : classes.get(each) ?? []
  );
}

/** Finds the default connection's schema of the same class, whose description serves all connections. */
export function usualSchema(schema: Schema): Schema {
  const target = classes.get(schema);
  return target === undefined ? schema : buildSchema(target).schema;
}

export function isBuilt(target: ModelClass): boolean {
  return usual.has(target);
}

/**
 * Mongoose applies plugins to a schema only once, so each set of plugins needs a separate schema.
 */
export function buildSchema(target: ModelClass, given: BuiltSchemas = usual): BuiltSchema {
  const adoption = adoptionOf(target);
  // The schema of an adopted model already contains the connection's plugins.
  const built = adoption === undefined ? given : usual;
  const known = built.get(target);
  if (known !== undefined) return known;
  checkMongoose();
  const description = describeModel(target);
  const result = adoption === undefined
    ? {
      // By default, Mongoose would not store an empty object that a client has sent.
      schema: new mongoose.Schema({}, { minimize: false, ...description.schemaOptions }),
      refersTo: new Set<ModelClass>(),
      embeds: new Set<BuiltSchema>(),
    }
    : naming(target, () => adoptSchema(adoption, description));
  built.set(target, result);
  classes.set(result.schema, target);
  try {
    fillSchema(description, { ...result, built, adoption });
  } catch (error) {
    built.delete(target);
    throw error;
  }
  return result;
}

function adoptSchema(adoption: Adoption, description: ModelDescription): BuiltSchema {
  checkModel(adoption);
  checkShownNames(adoption, description);
  const refersTo = new Set<ModelClass>();
  const embeds = new Set<BuiltSchema>();
  const embed = (part: ModelClass): Schema => {
    const inner = buildSchema(part);
    embeds.add(inner);
    return inner.schema;
  };
  return { schema: copyAdopted({ adoption, embed, refersTo }), refersTo, embeds };
}

export function referredClasses(
  schema: BuiltSchema,
  visited = new Set<BuiltSchema>(),
): ModelClass[] {
  if (visited.has(schema)) return [];
  visited.add(schema);
  const inner = [...schema.embeds].flatMap((each) => referredClasses(each, visited));
  return [...schema.refersTo, ...inner];
}

function fillSchema(
  description: ModelDescription,
  { schema, refersTo, embeds, built, adoption }: BuiltSchema & {
    readonly built: BuiltSchemas;
    readonly adoption: Adoption | undefined;
  },
): void {
  const { target, fields, parts } = description;
  const embed = (embedded: ModelClass): Schema => {
    const inner = buildSchema(embedded, built);
    embeds.add(inner);
    return inner.schema;
  };
  const idOf = (referred: ModelClass) => buildSchema(referred).schema.path("_id");
  // The `_id` comes first, because references of the class to itself need its type.
  const idFirst = [...fields].sort(([a], [b]) => Number(b === "_id") - Number(a === "_id"));
  forAll(idFirst, ([name, field]) =>
    naming(target, () => {
      if (adoption === undefined || name !== UNCALLED_MEMBER) refuseReserved(name);
      if (adoption !== undefined) return;
      if (field.options.apart === true && !parts.has(name)) {
        throw new TypeError(`property "${name}" is apart and has no @rest: nothing would show it`);
      }
      const { definition, refersTo: referred } = buildField(field, { of: embed, idOf });
      schema.add({ [name]: definition } as Parameters<Schema["add"]>[0]);
      rememberDefault(schema.path(name));
      if (referred !== undefined) refersTo.add(referred);
    }));
  naming(target, () => {
    if (adoption === undefined) addClassMembers(target, schema);
    const paths = new Set(Object.keys(schema.paths));
    for (const { add } of additions) add(target, schema);
    if (adoption !== undefined) refuseAdded(schema, paths);
    (target as typeof FrameworkModel).configure?.(schema);
    for (const { finish } of adoption === undefined ? additions : []) finish(target, schema);
    for (const each of schemasWithin(schema)) refuseReplaced(each);
    if (description.rests.length > 0) requireId(schema);
    refuseNestedVersion(schema);
    refuseInnerMaps(schema);
    refuseExpiry(schema);
    if (adoption === undefined) return;
    checkRests(schema, { description, adoption });
    hintAtSecrets(target, adoption);
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

/** Mongoose copies the methods of an embedded schema to this class once, so later methods are copied separately. */
interface EmbeddedClass {
  readonly schema: Schema;
  readonly prototype: object;
  readonly discriminators?: Readonly<Record<string, EmbeddedClass>> | null;
}

const hiding = new WeakSet<Schema>();

export function hideAdded(schema: Schema): void {
  castUuids(schema);
  cutTimes(schema);
  hideInJson(schema);
  refusePromises(schema);
  markCopies(schema);
  hideWithin(schema);
}

/** JSON would show the hidden fields of embedded schemas that `configure()` has added. */
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
  const constraint = constraintAgainstDefault(type);
  if (constraint === undefined) return;
  throw new TypeError(`property "${type.path}" has a "default" that its "${constraint}" refuses`);
}

/** With a negative or too large expiry, MongoDB would remove no documents. */
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

/** Mongoose would exclude an object and a Map inside that both have `select: false`, which MongoDB refuses. */
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

/** With a nested version, Mongoose would read it at one path and increment it at another. */
function refuseNestedVersion(schema: Schema): void {
  const key: unknown = schema.get("versionKey");
  if (typeof key === "string" && key.includes(".")) {
    throw new TypeError(`"versionKey" has to name a field, and "${key}" is a path`);
  }
}

/** Filters are compiled before Mongoose compiles a model and adds the version field, so it is added here. */
function addVersion({ rests }: ModelDescription, schema: Schema): void {
  const key: unknown = schema.get("versionKey");
  if (rests.length === 0 || typeof key !== "string" || schema.path(key) !== undefined) return;
  schema.add({ [key]: Number } as Parameters<Schema["add"]>[0]);
}

/** Mongoose calls `parent()` only on embedded documents, so an adopted model may have this field. */
const UNCALLED_MEMBER = "parent";

function refuseReserved(name: string): void {
  if (name === "_id" || name === "id") return;
  if (name in mongoose.Model.prototype || RESERVED.has(name) || /^\$|\./.test(name)) {
    throw memberOfDocuments("property", name);
  }
}

function memberOfDocuments(kind: "property" | "member", name: string): TypeError {
  return new TypeError(`${kind} "${name}" has the name of a member of Mongoose's documents`);
}

function naming<T>(target: ModelClass, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error) || error.message.startsWith("Cannot ")) throw error;
    const attempt = adoptionOf(target) === undefined ? "build the schema of" : "adopt";
    throw new TypeError(`Cannot ${attempt} "${target.name}": ${error.message}`, {
      cause: error,
    });
  }
}

const OWN_STATICS = new Set(["length", "name", "prototype", "configure", "schemaOptions"]);

/** A document is no instance of the class, so access to a `#private` member would throw. */
const PRIVATE_ACCESS = /\bthis\s*\??\.\s*#[\p{ID_Start}$_]/u;

function addClassMembers(target: ModelClass, schema: Schema): void {
  // Mongoose would run the getters of a class and its subclass, so only the last is added.
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

/** Mongoose copies static values to a model, but no static accessors. */
export function addStaticAccessors(target: ModelClass, model: object): void {
  for (const [name, member] of staticsOf(target)) {
    if (!("value" in member)) Object.defineProperty(model, name, member);
  }
}

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
