import mongoose from "mongoose";
import type { SchemaType } from "mongoose";
import { castFields, CastStopped } from "../../../write/body/cast_body.ts";
import type { Problems } from "../../../errors/bad_data.ts";
import { castForQuery } from "../../../schema/mongoose/internals.ts";
import type { JsonObject } from "../../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";

/**
 * Gives the values of a body that is flat, cast and valid: scalars, and arrays of scalars, at declared fields of the root.
 * `undefined` for any other body: the document takes it, or tells what is wrong.
 */
export function flatFields(
  body: JsonObject,
  shape: Shape,
): Record<string, unknown> | undefined {
  const flat = Object.entries(body).every(([name, value]) => {
    const field = shape.fields.get(name);
    return field === undefined || !field.writable || (value !== null && isFlat(field));
  });
  if (!flat) return undefined;
  const problems: Problems = {};
  try {
    const values = castFields(body, shape, { path: "", depth: 0, problems, stopsAtFirst: true });
    if (Object.keys(problems).length > 0) return undefined;
    for (const name of Object.keys(values)) {
      const field = shape.fields.get(name) as FieldShape;
      values[name] = settle(values[name], field);
      if (!isValid(values[name], field)) return undefined;
    }
    return values;
  } catch (error) {
    if (error instanceof mongoose.Error.CastError || error instanceof CastStopped) return undefined;
    throw error;
  }
}

/** Whether a field is a scalar, or an array of them. */
function isFlat({ kind, element }: FieldShape): boolean {
  return kind === "scalar" || (kind === "array" && element?.kind === "scalar");
}

/** Runs the setters of a field, such as `lowercase`: casting alone does not. */
function settle(value: unknown, { type, element }: FieldShape): unknown {
  if (element === undefined) return castForQuery(type as SchemaType, value);
  return (value as unknown[]).map((each) =>
    each === null || each === undefined ? each : castForQuery(element.type as SchemaType, each)
  );
}

/** Whether the rules of a field, none of them the user's own, let a value pass; `undefined` where it is left out. */
export function isValid(value: unknown, { type, element }: FieldShape): boolean {
  const passes = type?.validators.every(({ type: rule, validator }) =>
    (value === undefined && rule !== "required") ||
    (typeof validator === "function" && Boolean(validator.call({}, value)))
  );
  if (passes !== true) return false;
  return element === undefined || !Array.isArray(value) ||
    value.every((each) => isValid(each, element));
}
