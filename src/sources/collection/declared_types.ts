import mongoose from "mongoose";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import { isJsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

const { Types, mongo } = mongoose;

type Check = (value: unknown) => boolean;

/** The values that Mongoose's cast leaves unchanged, by type. */
const UNCHANGED: Readonly<Record<string, Check>> = {
  String: (value) => typeof value === "string",
  Number: (value) => typeof value === "number" && !Number.isNaN(value),
  Double: (value) => typeof value === "number",
  Int32: (value) => typeof value === "number" && value === (value | 0),
  BigInt: (value) => Number.isSafeInteger(value) || value instanceof mongo.Long,
  Boolean: (value) => typeof value === "boolean",
  Date: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  ObjectId: (value) => value instanceof Types.ObjectId,
  Decimal128: (value) => value instanceof Types.Decimal128,
  UUID: (value) => value instanceof mongo.UUID,
  Buffer: (value) => value instanceof mongo.Binary || value instanceof Uint8Array,
};

/** The check is compiled at its first use, because a model may embed itself. */
export function declaredType(field: FieldShape): Check {
  let check: Check | undefined;
  return (value) => value === null || (check ??= checkOf(field))(value);
}

function checkOf({ kind, type, element, shape }: FieldShape): Check {
  if (kind === "free") return () => true;
  if (kind === "scalar") return type && isMongooseType(type) && UNCHANGED[type.instance] || never;
  const isElement = element === undefined ? () => true : declaredType(element);
  if (kind === "array") return (value) => Array.isArray(value) && value.every(isElement);
  if (kind === "map") {
    return (value) =>
      isJsonObject(value) && Object.keys(value).every(isMapKey) &&
      Object.values(value).every(isElement);
  }
  if (shape === undefined) return never;
  const fields = [...shape.fields].map(([name, field]) => {
    return {
      name,
      isRight: declaredType(field),
      isMissing: name === "_id" || hasDefaultAsGiven(field),
    };
  });
  return (value) =>
    isJsonObject(value) && fields.every(({ name, isRight, isMissing }) => {
      const inner = Object.hasOwn(value, name) ? value[name] : undefined;
      return inner === undefined ? isMissing : isRight(inner);
    });
}

function never(): boolean {
  return false;
}

/** Mongoose reads no Map with a key such as `$a` or `a.b`, so such a Map does not count as unchanged. */
function isMapKey(key: string): boolean {
  return !key.startsWith("$") && !key.includes(".") && !PROTOTYPE_KEYS.has(key);
}

export function hasDefaultAsGiven(field: FieldShape): boolean {
  const { kind, given } = fieldDefault(field);
  return kind !== "dependent" &&
    (kind !== "constant" || field.kind === "scalar" || declaredType(field)(given));
}
