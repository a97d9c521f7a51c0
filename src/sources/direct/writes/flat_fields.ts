import mongoose from "mongoose";
import type { SchemaType } from "mongoose";
import { BodyCast, CastStopped } from "../../../write/body/cast_body.ts";
import { castForQuery } from "../../../schema/mongoose/fields/field_rules.ts";
import type { JsonObject } from "../../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";

/**
 * Casts a body that is flat and valid: scalars, and arrays of scalars, at declared fields of the root. `undefined` for any
 * other body, and for one with references that have to be checked.
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
  const cast = new BodyCast({ stopsAtFirst: true });
  try {
    const values = cast.fields(body, shape);
    if (cast.hasProblems || cast.references.size > 0) return undefined;
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

/** Whether a value passes the built-in rules of its field. It is `undefined` if the body leaves the field out. */
export function isValid(value: unknown, { type, element }: FieldShape): boolean {
  const passes = type?.validators.every(({ type: rule, validator }) =>
    (value === undefined && rule !== "required") ||
    (typeof validator === "function" && Boolean(validator.call({}, value)))
  );
  if (passes !== true) return false;
  return element === undefined || !Array.isArray(value) ||
    value.every((each) => isValid(each, element));
}
