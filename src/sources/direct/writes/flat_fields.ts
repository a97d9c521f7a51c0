import mongoose from "mongoose";
import type { SchemaType } from "mongoose";
import { isPromise } from "../../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../../declare/hooks/hooks.ts";
import { BodyCast, CastStopped } from "../../../write/body/cast_body.ts";
import { castForQuery } from "../../../schema/mongoose/schemas/field_rules.ts";
import type { JsonObject } from "../../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";

/**
 * Casts a body that is flat: scalars, and arrays of scalars, at declared fields of the root. `undefined` for any other body,
 * and for one with references that have to be checked.
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

/** Whether values pass the rules of some fields. A value is `undefined` if the body leaves the field out. */
export function areValid(
  values: Readonly<Record<string, unknown>>,
  fields: Iterable<readonly [string, FieldShape]>,
): MaybePromise<boolean> {
  const rules = new Rules();
  for (const [name, field] of fields) {
    if (!rules.mayPass(values[name], field)) return false;
  }
  return rules.asynchronous.length === 0 ||
    Promise.all(rules.asynchronous).then((all) => all.every(Boolean));
}

/** The rules of fields, as Mongoose runs them. */
class Rules {
  /** What asynchronous rules will have told. */
  readonly asynchronous: Promise<boolean>[] = [];

  /** Whether a value passes the rules of its field, but for asynchronous ones. */
  mayPass(value: unknown, { type, element }: FieldShape): boolean {
    const passes = type?.validators.every(({ type: rule, validator }) =>
      (value === undefined && rule !== "required") || this.#mayPassRule(value, validator)
    );
    if (passes !== true) return false;
    return element === undefined || !Array.isArray(value) ||
      value.every((each) => this.mayPass(each, element));
  }

  #mayPassRule(value: unknown, validator: unknown): boolean {
    if (typeof validator !== "function") return false;
    try {
      const result: unknown = validator.call({}, value);
      if (!isPromise(result)) return result === undefined || Boolean(result);
      this.asynchronous.push(Promise.resolve(result).then((each) => each !== false, () => false));
      return true;
    } catch {
      return false;
    }
  }
}
