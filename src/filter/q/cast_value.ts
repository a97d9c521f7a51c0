import { Buffer } from "node:buffer";
import { badFormat } from "../../errors/refusals.ts";
import { Binary, BSON, readBase64, Types } from "../../schema/mongoose/bson.ts";
import { IDENTIFIER } from "../../schema/fields/system_fields.ts";
import { isDateOnly, isDay, startOfDay, valueType } from "../../schema/fields/date_only.ts";
import { namesNoDay } from "../../schema/fields/texts.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { type Context, deeper } from "./limits.ts";
import { isLostInteger } from "../../schema/fields/json_numbers.ts";
import { isFieldKey, isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import { FREE, resolvePath } from "./resolve_path.ts";

/** MongoDB finds only values of the stored type, but `null` matches missing fields of every type, so it is not cast. */
export function castValue(value: unknown, context: Context): unknown {
  const { field, path } = context;
  const read = isJsonObject(value) && isExtendedJson(value) ? readExtendedJson(value, path) : value;
  if (read === null) return null;
  if (field.kind === "scalar") return castScalar(read, context);
  if (field.kind === "array") {
    // MongoDB compares an operand with each element of the array, so the operand gets the type of the elements.
    const element = { ...context, field: field.element ?? FREE };
    return Array.isArray(read) ? castList(read, element) : castValue(read, element);
  }
  if (isJsonObject(read)) return castObject(read, context);
  if (field.kind !== "free") {
    throw badFormat(`Value at "${path}" cannot be read as an object`, { field: path });
  }
  return Array.isArray(read) ? castList(read, context) : read;
}

const EXACT_TYPES: ReadonlySet<string | undefined> = new Set(["BigInt", "Decimal128", "String"]);

function castScalar(value: unknown, { field, path, compiler }: Context): unknown {
  const isRounded = compiler.isRounded(value) && EXACT_TYPES.has(field.type?.instance);
  if (isRounded || isLostText(value, field)) {
    const form = field.type?.instance === "BigInt" ? "$numberLong" : "$numberDecimal";
    const message =
      `Number at "${path}" is not read exactly: write it as text, in the form {"${form}":"…"}`;
    throw badFormat(message, { field: path });
  }
  try {
    if (isJsonObject(value) || Array.isArray(value)) throw new TypeError("No scalar");
    const read = fromJson(value, field);
    // MongoDB compares an int64 exactly, but Mongoose's cast would round it.
    if (typeof read === "bigint" && field.type?.instance === "Number") return read;
    return field.type && castForQuery(field.type, read);
  } catch {
    const message = `Value at "${path}" cannot be read as ${
      field.type ? valueType(field.type) : "a value"
    }`;
    throw badFormat(message, { field: path });
  }
}

/** The cast to `Number` would round an integer in a string. */
function isLostText(value: unknown, { type }: FieldShape): boolean {
  return type?.instance === "Number" && typeof value === "string" && isLostInteger(value.trim());
}

function fromJson(value: unknown, { type }: FieldShape): unknown {
  if (type?.instance === "Buffer" && typeof value === "string") {
    const bytes = readBase64(value);
    if (bytes === undefined) throw new TypeError("No base64");
    return bytes;
  }
  if (type?.instance === "Date" && typeof value === "string" && namesNoDay(value)) {
    throw new TypeError("No day");
  }
  if (isDateOnly(type) && value !== "" && !isMidnight(value) && !isDay(value)) {
    throw new TypeError("No day");
  }
  if (typeof value !== "bigint" || type?.instance === "BigInt") return value;
  if (Number.isSafeInteger(Number(value))) return Number(value);
  return type?.instance === "Decimal128" ? String(value) : value;
}

function isMidnight(value: unknown): boolean {
  return value instanceof Date && startOfDay(value).getTime() === value.getTime();
}

function castList(value: unknown[], context: Context): unknown[] {
  const { path, limits: { maxList } } = context;
  if (value.length > maxList) {
    throw badFormat(`A list at "${path}" has at most ${maxList} values`);
  }
  return value.map((each) => castValue(each, deeper(context)));
}

function castObject(value: JsonObject, context: Context): JsonObject {
  const inner = deeper(context);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (!isFieldKey(key)) {
        const message = `Key "${key}" is not allowed inside the value at "${context.path}"`;
        throw badFormat(message, { field: context.path });
      }
      const path = `${context.path}.${key}`;
      return [key, castValue(each, { ...inner, path, field: memberOf(context.field, key) })];
    }),
  );
}

function memberOf(field: FieldShape, key: string): FieldShape {
  if (field.kind === "object") return resolvePath(key, field.shape as Shape);
  return field.kind === "map" ? field.element ?? FREE : FREE;
}

/** `EJSON` of `bson` would read a too large integer as another one, and a wrong string as `NaN`. */
const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  $oid: (value) => new Types.ObjectId(text(value, IDENTIFIER)),
  $date: (value) => readDate(value),
  $numberInt: (value) => Number(text(value, /^-?\d{1,15}$/)),
  $numberLong: (value) => readInt64(value),
  $numberDouble: (value) => Number(text(value, /^(-?(\d+(\.\d*)?(e[+-]?\d+)?|Infinity)|NaN)$/i)),
  $numberDecimal: (value) => Types.Decimal128.fromString(text(value, /^[-+.0-9a-z]+$/i)),
  $uuid: (value) => new Types.UUID(text(value, /^[0-9a-f-]{32,36}$/i)),
  $binary: (value) => readBinary(value),
};

export function isExtendedJson(value: JsonObject): boolean {
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 && Object.hasOwn(READERS, key);
}

export function readExtendedJson(value: JsonObject, path: string): unknown {
  const [[key, inner]] = Object.entries(value) as [[string, unknown]];
  try {
    return READERS[key]?.(inner);
  } catch {
    throw badFormat(`Malformed "${key}" at "${path}"`, { field: path });
  }
}

function text(value: unknown, form: RegExp): string {
  if (typeof value !== "string" || !form.test(value)) throw new TypeError("Malformed");
  return value;
}

function readInt64(value: unknown): bigint {
  const int = BigInt(text(value, /^-?\d{1,19}$/));
  if (BigInt.asIntN(64, int) !== int) throw new RangeError("Too large");
  return int;
}

function readDate(value: unknown): Date {
  const inner = isJsonObject(value) && isExtendedJson(value)
    ? Number(readExtendedJson(value, "$date"))
    : value;
  if (typeof inner === "string" && namesNoDay(inner)) throw new TypeError("No day");
  const date = typeof inner === "string" || typeof inner === "number" ? new Date(inner) : undefined;
  if (date === undefined || Number.isNaN(date.getTime())) throw new TypeError("Malformed");
  return date;
}

function readBinary(value: unknown): unknown {
  const { base64, subType = "00" } = isJsonObject(value) ? value : {};
  const bytes = Buffer.from(text(base64, /^[0-9a-z+/]*={0,2}$/i), "base64");
  const binary = new Binary(bytes, Number.parseInt(text(subType, /^[0-9a-f]{1,2}$/i), 16));
  // The driver refuses some bytes, such as a malformed vector, and the query would fail without a 400.
  BSON.serialize({ binary });
  return binary;
}
