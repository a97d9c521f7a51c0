import type { SchemaType } from "mongoose";

/** The rules of a field that Mongoose made of its options, and that JSON Schema can say. */
export interface DeclaredRules {
  readonly enum?: readonly unknown[];
  /** Of a number, or of a date. */
  readonly minimum?: number | Date;
  readonly maximum?: number | Date;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly match?: RegExp;
}

/** Where a validator keeps what an option said, by its type. */
interface Kept {
  readonly type?: string;
  readonly enumValues?: readonly unknown[];
  readonly min?: unknown;
  readonly max?: unknown;
  readonly minlength?: unknown;
  readonly maxlength?: unknown;
  readonly regexp?: unknown;
}

export function declaredRules(type: SchemaType | undefined): DeclaredRules {
  return Object.assign({}, ...(type?.validators ?? []).map((each) => ruleOf(each as Kept)));
}

function ruleOf(kept: Kept): DeclaredRules {
  const { type, enumValues, min, max, minlength, maxlength, regexp } = kept;
  switch (type) {
    case "enum":
      return Array.isArray(enumValues) ? { enum: enumValues } : {};
    case "min":
      return isBound(min) ? { minimum: min } : {};
    case "max":
      return isBound(max) ? { maximum: max } : {};
    case "minlength":
      return typeof minlength === "number" ? { minLength: minlength } : {};
    case "maxlength":
      return typeof maxlength === "number" ? { maxLength: maxlength } : {};
    case "regexp":
      return regexp instanceof RegExp ? { match: regexp } : {};
    default:
      return {};
  }
}

function isBound(value: unknown): value is number | Date {
  return typeof value === "number" ? Number.isFinite(value) : value instanceof Date;
}
