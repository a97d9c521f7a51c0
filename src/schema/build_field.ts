import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { Buffer } from "node:buffer";
import { checkCopy } from "../declare/model/copies.ts";
import { FrameworkModel, type ModelClass } from "../declare/model/framework_model.ts";
import { ARRAY_FIELD_OPTIONS, FIELD_OPTIONS, type FieldFeatures } from "../declare/options.ts";
import type { FieldRecord } from "../declare/model/records.ts";
import { KINDS_OF_TYPES, MONGOOSE_KINDS, OWN_KINDS } from "./field_option_kinds.ts";
import { startOfDay } from "./fields/date_only.ts";
import { isJsonObject } from "./fields/json.ts";
import { IDENTIFIER_TYPES } from "./fields/system_fields.ts";
import { modelName } from "./model_name.ts";
import { isMongooseType } from "./mongoose/schemas/field_rules.ts";
import { validatorsOf } from "./standard_schema.ts";

const { Types } = mongoose;
const SchemaTypes = mongoose.Schema.Types;

const COMMON_OPTIONS = [
  ...[
    "hidden",
    "readonly",
    "apart",
    "dateOnly",
    "exists",
    "unguarded",
    "summary",
    "description",
    "deprecated",
    "example",
  ],
  ...["alias", "get", "set"],
];
export const SINGLE_OPTIONS: ReadonlySet<string> = new Set([
  ...[...COMMON_OPTIONS, "type", "ref", "of"],
  ...Object.keys(FIELD_OPTIONS),
]);
export const ARRAY_OPTIONS: ReadonlySet<string> = new Set([
  ...COMMON_OPTIONS,
  "items",
  "embedded",
  ...ARRAY_FIELD_OPTIONS,
]);

/** Mongoose lists `encrypt` for no type, so without this addition it would be refused as unknown. */
export const MONGOOSE_OPTIONS: ReadonlySet<string> = new Set([
  "encrypt",
  ...Object.values(SchemaTypes).flatMap(optionsOf),
]);

function optionsOf({ prototype }: { readonly prototype: object }): string[] {
  const { OptionsConstructor } = prototype as { OptionsConstructor?: { prototype: object } };
  const names: string[] = [];
  for (const name in OptionsConstructor?.prototype) names.push(name);
  return names;
}

const REFERENCE_OPTIONS = ["exists", "unguarded"];

const VALUE_OPTIONS = [...REFERENCE_OPTIONS, "dateOnly"];

/** Mongoose reads these options in the definition of the element, so `@arrayProp` moves them there. */
const ELEMENT_OPTIONS = new Set([
  ...["enum", "min", "max", "minLength", "maxLength", "minlength", "maxlength", "match", "trim"],
  ...["lowercase", "uppercase", ...VALUE_OPTIONS],
]);

const OWN_OPTIONS = new Set(["type", "items", "embedded", "ref", "of", "enum"]);

const SCALARS = new Map<unknown, unknown>([
  ...[String, Number, Boolean, Date].map((type) => [type, type] as const),
  [BigInt, SchemaTypes.BigInt],
  [Buffer, SchemaTypes.Buffer],
  [Map, SchemaTypes.Map],
  [Object, SchemaTypes.Mixed],
  [Types.ObjectId, SchemaTypes.ObjectId],
  [Types.Decimal128, SchemaTypes.Decimal128],
  [Types.UUID, SchemaTypes.UUID],
]);

export interface BuiltField {
  readonly definition: Record<string, unknown>;
  readonly refersTo?: ModelClass;
}

interface OtherSchemas {
  of(target: ModelClass): Schema;
  idOf(target: ModelClass): SchemaType | undefined;
}

export function buildField(field: FieldRecord, schemas: OtherSchemas): BuiltField {
  const { array, name, options } = field;
  checkLoaded(field);
  checkOptions(field);
  checkAccess(field);
  if (array && options.items === undefined) {
    throw new TypeError(`property "${name}" is an array without "items"`);
  }
  const own = Object.fromEntries(Object.entries(options).filter(([key]) => !OWN_OPTIONS.has(key)));
  if (options.apart === true) own.select = false;
  if (isJsonObject(own.unique)) own.unique = true;
  for (const [name, value] of Object.entries(options)) {
    if (isFeature(name)) Object.assign(own, FIELD_OPTIONS[name](value));
  }
  if (own.validate !== undefined) own.validate = validatorsOf(own.validate);
  if (options.dateOnly === true && own.min !== undefined) own.min = firstDay(own.min);
  const values = options.enum === undefined ? {} : { enum: enumValues(options.enum) };
  const { definition: type, refersTo } = elementType(field, schemas);
  checkReferenceOptions(field, type);
  checkDateOnly(field, type);
  checkConstraints(field, type);
  const definition = array ? arrayOf(type, { own, values }) : { ...own, ...values, ...type };
  return { definition, ...refersTo && { refersTo } };
}

function isFeature(name: string): name is keyof FieldFeatures {
  return Object.hasOwn(FIELD_OPTIONS, name);
}

function arrayOf(
  type: Record<string, unknown>,
  { own, values }: { readonly own: object; readonly values: object },
): Record<string, unknown> {
  const given = Object.entries(own);
  const ofElement = given.filter(([key]) => ELEMENT_OPTIONS.has(key));
  const ofArray = given.filter(([key]) => !ELEMENT_OPTIONS.has(key));
  const element = { ...Object.fromEntries(ofElement), ...values, ...type };
  const items = type.type instanceof mongoose.Schema ? type.type : element;
  return { ...Object.fromEntries(ofArray), type: [items] };
}

function elementType(field: FieldRecord, schemas: OtherSchemas): BuiltField {
  const { options } = field;
  const given = field.array ? options.items : options.type;
  const ref = resolveRef(field);
  if (ref !== undefined && given === undefined) return reference(ref, schemas);
  const kind = fieldKind(given === undefined ? typeOfDefault(options.default) : given);
  if (kind === undefined) {
    throw new TypeError(
      `property "${field.name}" has an unknown type${field.array ? ` in "items"` : ""}`,
    );
  }
  if (isModelClass(kind)) {
    const embedded = !field.array || options.embedded === true;
    if (ref !== undefined && (embedded || ref !== kind)) {
      throw new TypeError(
        `property "${field.name}" names a model class and refers by "ref" as well`,
      );
    }
    return embedded ? { definition: { type: schemas.of(kind) } } : reference(kind, schemas);
  }
  if (field.array && options.embedded === true) {
    throw new TypeError(`property "${field.name}" embeds something that is not a model class`);
  }
  const definition = { type: kind, ...valuesOfMap(field, schemas) };
  if (ref === undefined) return { definition };
  const referring = reference(ref, schemas);
  return { ...referring, definition: { ...referring.definition, ...definition } };
}

function reference(target: ModelClass | string, { idOf }: OtherSchemas): BuiltField {
  if (typeof target === "string") {
    return { definition: { type: SchemaTypes.ObjectId, ref: target } };
  }
  const { instance = "" } = idOf(target) ?? {};
  const type = IDENTIFIER_TYPES.includes(instance)
    ? SchemaTypes[instance as "String"]
    : SchemaTypes.ObjectId;
  return { definition: { type, ref: modelName(target) }, refersTo: target };
}

export function resolveRef({ name, options }: FieldRecord): ModelClass | string | undefined {
  const { ref } = options;
  if (ref === undefined || typeof ref === "string" && ref !== "" || isModelClass(ref)) return ref;
  const resolved = typeof ref === "function" && ref.prototype === undefined ? ref() : undefined;
  if (isModelClass(resolved)) return resolved;
  throw new TypeError(`property "${name}" refers to something that is not a model class`);
}

function valuesOfMap(field: FieldRecord, schemas: OtherSchemas): object {
  if (field.options.of === undefined) return {};
  const kind = fieldKind(field.options.of);
  if (kind === undefined) {
    throw new TypeError(`property "${field.name}" is a map of an unknown type`);
  }
  if (isModelClass(kind)) return { of: schemas.of(kind) };
  // Mongoose does not pass these options of a Map to its values.
  const given = VALUE_OPTIONS.filter((name) => field.options[name] === true);
  if (given.length === 0) return { of: kind };
  return { of: { type: kind, ...Object.fromEntries(given.map((name) => [name, true])) } };
}

/** In a circular import, the class may be undefined, and the field would become a string. */
function checkLoaded({ name, options }: FieldRecord): void {
  for (const key of ["type", "items", "ref", "of"]) {
    if (!(key in options)) continue;
    const { [key]: given } = options;
    const isFunction = typeof given === "function" && given.prototype === undefined;
    if ((isFunction ? given() : given) !== undefined) continue;
    throw new TypeError(
      isFunction
        ? `property "${name}" has "${key}", whose function returns undefined. A circular import of models is the ` +
          `usual cause: call Framework.initialize() after all models have been imported`
        : `property "${name}" has "${key}", which is undefined. A circular import of models is the usual cause: name ` +
          `the class by a function, () => Model`,
    );
  }
}

/** A misspelt `hidden` would leave the field visible. Only custom schema types may have unknown options. */
function checkOptions({ array, name, options }: FieldRecord): void {
  const { prototype } = Object(array ? options.items : options.type) as { prototype?: unknown };
  const isForeign = prototype instanceof mongoose.SchemaType && !isMongooseType(prototype);
  const unknown = Object.keys(options).find((each) => !isKnownOption(each, array));
  if (unknown !== undefined && !isForeign) {
    const decorator = array ? "arrayProp" : "prop";
    throw new TypeError(`@${decorator} of property "${name}" has no option "${unknown}"`);
  }
  for (const [option, value] of Object.entries(options)) {
    const [problem, isOfKind] = OWN_KINDS[option] ??
      (isForeign ? undefined : MONGOOSE_KINDS[option]) ?? [];
    if (value === undefined || isOfKind?.(value) !== false) continue;
    throw new TypeError(`property "${name}" has "${option}", which is ${problem}`);
  }
}

function isKnownOption(name: string, array: boolean): boolean {
  return (array ? ARRAY_OPTIONS : SINGLE_OPTIONS).has(name) ||
    name !== "type" && MONGOOSE_OPTIONS.has(name);
}

/** The promise of an asynchronous `hidden` or `readonly` would restrict the field for everyone. */
function checkAccess({ name, options }: FieldRecord): void {
  for (const option of ["hidden", "readonly"]) {
    const { [option]: given } = options;
    if (typeof given !== "function" || !isAsync(given)) continue;
    throw new TypeError(`property "${name}" has "${option}", which is asynchronous`);
  }
}

export function isAsync(given: object): boolean {
  return Object.prototype.toString.call(given) === "[object AsyncFunction]";
}

function checkReferenceOptions(
  { name, options }: FieldRecord,
  { type, ref, of }: Record<string, unknown>,
): void {
  const held = type === SchemaTypes.Map ? (of as { type?: unknown } | undefined)?.type : type;
  const isReference = ref !== undefined && held !== undefined && held !== SchemaTypes.Mixed;
  const given = REFERENCE_OPTIONS.find((each) => options[each] === true);
  if (given !== undefined && !isReference) {
    throw new TypeError(`property "${name}" has "${given}" and is not a reference`);
  }
}

function checkDateOnly(
  { name, options }: FieldRecord,
  { type, of }: Record<string, unknown>,
): void {
  const held = type === SchemaTypes.Map ? (of as { type?: unknown } | undefined)?.type : type;
  if (options.dateOnly === true && held !== Date && held !== SchemaTypes.Date) {
    throw new TypeError(`property "${name}" has "dateOnly", which only a Date can have`);
  }
}

/** A date-only value is midnight of its day, so a minimum at noon would refuse its own day. */
function firstDay(min: unknown): unknown {
  if (Array.isArray(min)) return [firstDay(min[0]), ...min.slice(1)];
  if (typeof min !== "function") return startOfDay(new Date(min as Date));
  return function (this: unknown) {
    return startOfDay(new Date(min.call(this)));
  };
}

function checkConstraints(
  { array, name, options }: FieldRecord,
  { type }: Record<string, unknown>,
): void {
  const { name: typeName, schemaName: kind = typeName } = Object(type) as {
    readonly name: keyof typeof SchemaTypes;
    readonly schemaName?: string;
  };
  const { prototype } = Object(SCALARS.has(type) ? SchemaTypes[typeName] : type) as {
    readonly prototype?: SchemaType;
  };
  if (prototype instanceof mongoose.SchemaType && !isMongooseType(prototype)) return;
  for (const [option, [problem, isOfKind]] of Object.entries(KINDS_OF_TYPES[kind] ?? {})) {
    if (options[option] === undefined || isOfKind(options[option])) continue;
    throw new TypeError(`property "${name}" has "${option}", which is ${problem}`);
  }
  if (options.expires !== undefined && (array || kind !== "Date")) {
    throw new TypeError(`property "${name}" has "expires", which only a Date can have`);
  }
  for (const [low, high] of RANGES) {
    const lowest = options.dateOnly === true ? firstDay(options[low]) : options[low];
    const [from, to] = [boundOf(lowest), boundOf(options[high])];
    if (from !== undefined && to !== undefined && from > to) {
      throw new TypeError(`property "${name}" has "${low}" above "${high}", so no value is valid`);
    }
  }
  for (const option of ELEMENT_OPTIONS) {
    const isSet = !VALUE_OPTIONS.includes(option) && (options[option] ?? false) !== false;
    if (!isSet || typeof Object(prototype)[option] === "function") continue;
    const isUntyped = !array && kind === "String" &&
      [options.type, options.ref, options.default].every((each) => each === undefined);
    const cure = isUntyped
      ? `it is a String: add "type: ${options[option] instanceof Date ? "Date" : "Number"}"`
      : `use "validate"`;
    throw new TypeError(
      `property "${name}" has "${option}", which Mongoose ignores for values of this type: ${cure}`,
    );
  }
}

const RANGES = [["min", "max"], ["minLength", "maxLength"], ["minlength", "maxlength"]] as const;

function boundOf(given: unknown): number | undefined {
  const value = Array.isArray(given) ? given[0] : given;
  if (typeof value === "string") return Date.parse(value);
  return value instanceof Date || typeof value === "bigint" || typeof value === "number"
    ? Number(value)
    : undefined;
}

/** A numeric enum of TypeScript also maps numbers to names. */
function enumValues(given: unknown): unknown {
  if (Array.isArray(given) || typeof given !== "object" || given === null) return given;
  if ("values" in given && Array.isArray(given.values)) return given;
  return Object.entries(given).filter(([name]) => !/^-?\d+(\.\d+)?$/.test(name)).map(([, value]) =>
    value
  );
}

export function fieldKind(type: unknown): unknown {
  if (SCALARS.has(type)) return SCALARS.get(type);
  if (typeof type !== "function") return undefined;
  if (isModelClass(type) || type.prototype instanceof mongoose.SchemaType) return type;
  return type.prototype === undefined ? fieldKind(type()) : undefined;
}

export function isModelClass(value: unknown): value is ModelClass {
  if (typeof value !== "function") return false;
  checkCopy(value, `"${value.name}"`);
  return value.prototype instanceof FrameworkModel;
}

function typeOfDefault(value: unknown): unknown {
  if (value instanceof Date) return Date;
  if (typeof value === "object" && value !== null) return undefined;
  return [Number, Boolean, BigInt].find(({ name }) => name.toLowerCase() === typeof value) ??
    String;
}
