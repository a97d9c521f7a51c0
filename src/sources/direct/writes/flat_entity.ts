import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import {
  defaultOf,
  hasComputedDefault,
  hasDefault,
  hasEmptyDefault,
  hasUsualId,
  stampFields,
} from "../../../schema/mongoose/internals.ts";
import type { JsonObject } from "../../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";
import { flatFields, isValid } from "./flat_fields.ts";
import { timeStamps } from "./time_stamps.ts";
import { writesPlainly } from "./writes_plainly.ts";

/** What becomes of a field that a body leaves out. */
interface LeftOut {
  readonly name: string;
  readonly field: FieldShape;
  /** Gives its default. */
  readonly value: () => unknown;
}

const known = new WeakMap<Model<unknown>, readonly LeftOut[] | null>();

/**
 * Makes a new entity out of a flat body as Mongoose would store it, defaults included; `undefined` for what takes the
 * document: another body, one that is not valid, or a model whose new documents are more than their fields.
 */
export function flatEntity(
  model: Model<unknown>,
  body: JsonObject,
  shape: Shape,
): Record<string, unknown> | undefined {
  let leftOut = known.get(model);
  if (leftOut === undefined) {
    leftOut = writesPlainly(model, shape) ? leftOutFields(model.schema as Schema, shape) : null;
    known.set(model, leftOut);
  }
  if (leftOut === null) return undefined;
  const values = flatFields(body, shape);
  if (values === undefined) return undefined;
  // As documents have them: what has a default comes first.
  const entity: Record<string, unknown> = { _id: new mongoose.Types.ObjectId() };
  for (const { name, field, value } of leftOut) {
    const standing = value();
    if (values[name] === undefined && !isValid(standing, field)) return undefined;
    if (standing !== undefined) entity[name] = standing;
  }
  return {
    ...entity,
    ...values,
    ...timeStamps(model, "createdAt", "updatedAt"),
    [model.schema.get("versionKey") as string]: 0,
  };
}

/** Describes the fields that may be left out; `null` where only Mongoose can tell what stands for one. */
function leftOutFields(schema: Schema, shape: Shape): readonly LeftOut[] | null {
  const stamps = Object.values(stampFields(schema));
  if (!hasUsualId(schema) || stamps.some((name) => name && hasDefault(schema.path(name)))) {
    return null;
  }
  const fields = [...shape.fields].filter(([name]) => name !== "_id").map(([name, field]) =>
    leftOutField(name, field)
  );
  return fields.every((field) => field !== undefined) ? fields : null;
}

function leftOutField(name: string, field: FieldShape): LeftOut | undefined {
  const value = defaultMaker(field);
  return value && { name, field, value };
}

/** Gives what makes the default of a field; `undefined` where it may look at the document. */
function defaultMaker({ kind, type }: FieldShape): (() => unknown) | undefined {
  if (type === undefined) return undefined;
  if (!hasDefault(type)) return () => undefined;
  if (kind === "array") return hasEmptyDefault(type) ? () => [] : undefined;
  if (kind !== "scalar" || hasComputedDefault(type)) return undefined;
  return () => defaultOf(type, {} as never);
}
