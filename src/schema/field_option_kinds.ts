import type { ArrayFeatures, FieldFeatures } from "../declare/options.ts";
import { isGroup, isNames } from "../errors/option_kinds.ts";
import { isJson, isJsonObject } from "./fields/json.ts";
import { isSchema } from "./standard_schema.ts";

type Check = (value: unknown) => boolean;

type FieldKind = readonly [problem: string, isOfKind: Check];

const isBoolean: Check = (value) => typeof value === "boolean";
const isFunction: Check = (value) => typeof value === "function";
const isNonEmptyString: Check = (value) => typeof value === "string" && value !== "";

const FREE: FieldKind = ["", () => true];
const FLAG: FieldKind = ["not a boolean", isBoolean];
const FUNCTION: FieldKind = ["not a function", isFunction];
const STRING: FieldKind = ["not a text", (value) => typeof value === "string"];
const ACCESS: FieldKind = [
  "neither a boolean nor a function",
  (value) => isBoolean(value) || isFunction(value),
];
/** For a misspelt kind, Mongoose would build an ascending index. */
const INDEX_KINDS = ["2d", "2dsphere", "hashed", "text", "asc", "ascending", "desc", "descending"];
const isIndexKind: Check = (value) => typeof value === "string" && INDEX_KINDS.includes(value);
const INDEX_FLAGS = ["unique", "sparse", "hidden", "background"];
const isNumber: Check = (value) => typeof value === "bigint" || Number.isFinite(value);
const BOUND: FieldKind = ["not a finite number or a date", bounded(isBound)];
const LENGTH: FieldKind = ["not a whole number", bounded(isLength)];

export const OWN_KINDS: Readonly<Record<string, FieldKind>> = {
  hidden: ACCESS,
  readonly: ACCESS,
  apart: FLAG,
  dateOnly: FLAG,
  exists: FLAG,
  unguarded: FLAG,
  embedded: FLAG,
  summary: STRING,
  description: STRING,
  deprecated: FLAG,
  example: ["not a value of JSON", isJson],
  alias: [
    "not a name",
    (value) => isNonEmptyString(value) || isNames(value) && value.every(isNonEmptyString),
  ],
  get: FUNCTION,
  set: FUNCTION,
  type: FREE,
  items: FREE,
  ref: FREE,
  of: FREE,
  ...{ onDelete: FREE } satisfies Record<keyof ArrayFeatures, FieldKind>,
  ...{ onDelete: FREE, stamp: FREE, maxBytes: FREE, accept: FREE, inline: FREE } satisfies Record<
    keyof FieldFeatures,
    FieldKind
  >,
};

/** The values that Mongoose's types accept. A custom schema type may accept others. */
export const MONGOOSE_KINDS: Readonly<Record<string, FieldKind>> = {
  required: ["neither a boolean nor a text nor a function", isRequired],
  unique: [
    "neither a boolean nor { global: true }",
    (value) =>
      bounded(isBoolean)(value) || value === 1 || isJsonObject(value) && value.global === true,
  ],
  index: [
    'neither a boolean nor a kind of index such as "2dsphere" nor an object',
    (value) =>
      isBoolean(value) || value === 1 || value === -1 || isIndexKind(value) ||
      isGroup(value) && (!("type" in value) || isIndexKind(value.type)) &&
        INDEX_FLAGS.every((flag) => isBoolean(Reflect.get(value, flag) ?? false)),
  ],
  sparse: FLAG,
  text: FLAG,
  immutable: ACCESS,
  select: ["not a boolean", (value) => isBoolean(value) || value === 0 || value === 1],
  expires: [
    'neither a number of seconds nor a time such as "1d"',
    (value) =>
      isNonEmptyString(value) || typeof value === "number" && value >= 0 && Number.isFinite(value),
  ],
  enum: ["not a list of values", isEnum],
  validate: ["neither a validator nor a schema", isValidator],
  min: BOUND,
  max: BOUND,
  minLength: LENGTH,
  maxLength: LENGTH,
  minlength: LENGTH,
  maxlength: LENGTH,
  match: ["not a regular expression", bounded((value) => value instanceof RegExp)],
  trim: FLAG,
  lowercase: FLAG,
  uppercase: FLAG,
  transform: FUNCTION,
  default: FREE,
  cast: FREE,
  populate: FREE,
  discriminators: FREE,
  encrypt: FREE,
  refPath: [
    "neither a text nor a function",
    (value) => isNonEmptyString(value) || isFunction(value),
  ],
  castNonArrays: FLAG,
  auto: FLAG,
  allowNull: FLAG,
  _id: FLAG,
  excludeIndexes: FLAG,
  minimize: FLAG,
  subtype: LENGTH,
};

/** With a date or a function as limit, Mongoose would refuse every number. */
export const KINDS_OF_TYPES: Readonly<Record<string, Readonly<Record<string, FieldKind>>>> = {
  Number: Object.fromEntries(
    ["min", "max"].map((name) => [name, ["not a finite number", bounded(isNumber)]]),
  ),
};

/** Mongoose also takes an array of an option's value and its error message. */
function bounded(isValue: Check): Check {
  return (value) =>
    isValue(value) ||
    Array.isArray(value) && value.length === 2 && isValue(value[0]) &&
      (isNonEmptyString(value[1]) || isFunction(value[1]));
}

function isBound(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return isNumber(value) || isFunction(value) ||
    isNonEmptyString(value) && !Number.isNaN(Date.parse(String(value)));
}

function isLength(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isRequired(value: unknown): boolean {
  const isRequirement: Check = (each) =>
    isBoolean(each) || isNonEmptyString(each) || isFunction(each);
  return bounded(isRequirement)(value) || isJsonObject(value) && isRequirement(value.isRequired);
}

function isEnum(value: unknown): boolean {
  if (Array.isArray(value)) {
    return value.some((each) => each !== null) &&
      value.every((each) => each === null || ["string", "number", "bigint"].includes(typeof each));
  }
  if (!isJsonObject(value)) return false;
  return Array.isArray(value.values) ? isEnum(value.values) : isEnum(Object.values(value));
}

function isValidator(value: unknown): boolean {
  if (Array.isArray(value)) {
    const [first, message] = value;
    return value.length > 0 &&
      (typeof message === "string" ? isValidator(first) : value.every(isValidator));
  }
  return isFunction(value) || isSchema(value) || value instanceof RegExp ||
    isJsonObject(value) && isFunction(value.validator);
}
