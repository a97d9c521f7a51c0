import type { Document } from "mongoose";
import {
  defaultOf,
  hasComputedDefault,
  hasDefault,
  hasEmptyDefault,
  isRequired,
  rawDefault,
} from "../mongoose/schemas/field_rules.ts";
import { isDocument } from "../mongoose/bson.ts";
import { copyJson } from "./json.ts";
import type { FieldShape } from "./shape.ts";

export interface FieldDefault {
  /** A `dependent` default may read the document, so only a Mongoose document can make it. */
  readonly kind: "nothing" | "constant" | "independent" | "dependent";
  readonly given?: unknown;
  readonly make?: () => unknown;
}

const NOTHING: FieldDefault = { kind: "nothing" };
const DEPENDENT: FieldDefault = { kind: "dependent" };
const EMPTY_ARRAY: FieldDefault = { kind: "constant", given: [], make: () => [] };

export function fieldDefault({ kind, type }: FieldShape): FieldDefault {
  if (type === undefined || !hasDefault(type)) return NOTHING;
  if (kind === "array" && hasEmptyDefault(type)) return EMPTY_ARRAY;
  const { set } = type.options as { set?: unknown };
  if (set !== undefined || hasComputedDefault(type)) return DEPENDENT;
  const make = () => defaultOf(type, {} as never);
  const given = rawDefault(type);
  if (typeof given === "function") {
    return kind === "scalar" ? { kind: "independent", make } : DEPENDENT;
  }
  const isCastAlone = kind === "scalar" || given === null ||
    (kind === "free" && typeof given !== "object");
  return { kind: "constant", given, ...isCastAlone && { make } };
}

/** Casts only scalar defaults, because Mongoose would cast arrays and objects to its own classes. */
export function defaultIn(object: object, { kind, type }: FieldShape): unknown {
  if (kind === "scalar") return defaultOf(type, object as Document);
  const given = rawDefault(type);
  // A change in one entity must not change the default of another.
  return copyJson(typeof given === "function" ? given.call(object, object) : given);
}

export function clearedValue(entity: object, field: FieldShape): unknown {
  if (field.kind === "array") return [];
  return isRequired(field.type) ? undefined : initialValue(entity, field);
}

export function initialValue(entity: object, field: FieldShape): unknown {
  return isDocument(entity) ? defaultOf(field.type, entity) : defaultIn(entity, field);
}
