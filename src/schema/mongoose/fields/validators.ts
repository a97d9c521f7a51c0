import type { SchemaType } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

/** Where a type keeps the validators that Mongoose has made of its options. */
const KEPT_AS = [
  "requiredValidator",
  "enumValidator",
  "minValidator",
  "maxValidator",
  "minlengthValidator",
  "maxlengthValidator",
];

/** Whether all validators of a type are those that Mongoose makes of options such as `enum`. */
export function hasBuiltInValidators(type: SchemaType): boolean {
  const { match } = type.options as { match?: unknown };
  const kept: unknown[] = KEPT_AS.map((name) => (type as unknown as Record<string, unknown>)[name])
    .filter((each) => typeof each === "function");
  const others = type.validators.filter(({ validator }) => !kept.includes(validator));
  // The validator of `match` is kept nowhere.
  return others.length <= (match === undefined ? 0 : 1) &&
    others.every((each) => (each as { type?: string }).type === "regexp");
}

export const VALIDATORS: Knowledge = {
  name: "validators of fields",
  holds({ schema }) {
    const known = ["text", "number", "date"].map((name) => schema.path(name) as SchemaType);
    const own = schema.path("own") as SchemaType;
    return known.every((type) => type.validators.length >= 3 && hasBuiltInValidators(type)) &&
      own.validators.length === 1 && !hasBuiltInValidators(own);
  },
};
