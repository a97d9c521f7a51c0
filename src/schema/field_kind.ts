import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { FrameworkModel } from "../declare/model/framework_model.ts";
import type { ModelClass } from "../declare/model/model_class.ts";

const { Schema, SchemaType, Types } = mongoose;

/** What a field's type turned out to be. */
export type FieldKind = { readonly scalar: unknown } | { readonly model: ModelClass };

/** Mongoose's type by what users write. */
const SCALARS = new Map<unknown, unknown>([
  [String, String],
  [Number, Number],
  [Boolean, Boolean],
  [Date, Date],
  [BigInt, Schema.Types.BigInt],
  [Buffer, Schema.Types.Buffer],
  [Map, Schema.Types.Map],
  [Object, Schema.Types.Mixed],
  [Types.ObjectId, Schema.Types.ObjectId],
  [Types.Decimal128, Schema.Types.Decimal128],
  [Types.UUID, Schema.Types.UUID],
]);

/** Tells what a type is; `undefined` for one that is unknown. Thunks are called: all classes are there by now. */
export function fieldKind(type: unknown): FieldKind | undefined {
  if (SCALARS.has(type)) return { scalar: SCALARS.get(type) };
  if (typeof type !== "function") return undefined;
  if (isModelClass(type)) return { model: type };
  if (type.prototype instanceof SchemaType) return { scalar: type };
  if (type.prototype === undefined) return fieldKind(type());
  return undefined;
}

export function isModelClass(value: unknown): value is ModelClass {
  return typeof value === "function" && value.prototype instanceof FrameworkModel;
}

/** Gives the type that a default tells, for a field without `type`. */
export function typeOfDefault(value: unknown): unknown {
  if (value instanceof Date) return Date;
  switch (typeof value) {
    case "number":
      return Number;
    case "boolean":
      return Boolean;
    case "bigint":
      return BigInt;
    case "object":
      return value === null ? String : undefined;
    default:
      return String;
  }
}
