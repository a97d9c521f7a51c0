import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { isPromise } from "../../declare/hooks/run_hook.ts";
import { type FieldDefault, fieldDefault } from "../../schema/fields/field_default.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isClearable, isSetOnce } from "../../schema/fields/visibility.ts";
import { isImmutableAtTimes } from "../../schema/mongoose/schemas/field_rules.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import type { Stamps } from "../../store/values.ts";
import { BodyCast } from "../../write/body/cast_body.ts";

interface MadeField extends FieldDefault {
  readonly name: string;
}

interface Replacement {
  readonly entity: Record<string, unknown>;
  readonly stages: readonly object[];
  readonly written: readonly string[];
}

/** Makes the values that Mongoose would store, without a slow document. */
export class EntityMaker {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #fields: readonly MadeField[];
  /** `undefined` if a PUT keeps a part of a field, which a single update cannot do. */
  readonly #cleared: readonly string[] | undefined;

  constructor(model: Model<unknown>, shape: Shape) {
    this.#model = model;
    this.#shape = shape;
    this.#fields = [...shape.fields].filter(([name]) => name !== "_id")
      .map(([name, field]) => ({ name, ...fieldDefault(field) }));
    const fields = [...shape.fields];
    this.#cleared = fields.every(isClearedWhole)
      ? fields.filter(([, field]) => isClearable(field) && !isSetOnce(field)).map(([name]) => name)
      : undefined;
  }

  /** `undefined` if only a Mongoose document can store the body. */
  make(
    body: JsonObject,
    _id: unknown = new mongoose.Types.ObjectId(),
  ): Record<string, unknown> | undefined {
    const values = flatFields(body, this.#shape);
    if (values === undefined) return undefined;
    // Defaults come first, as in the stored order of Mongoose documents.
    const entity: Record<string, unknown> = { _id };
    for (const { name, make } of this.#fields) {
      const value = make?.();
      if (value !== undefined) entity[name] = value;
    }
    return {
      ...entity,
      ...values,
      ...timeStamps(this.#model, "createdAt", "updatedAt"),
      [this.#model.schema.get("versionKey") as string]: 0,
    };
  }

  replacement(
    body: JsonObject,
    { by, _id, added = {}, changed = {} }: {
      readonly by: string;
      readonly _id?: unknown;
      readonly added?: Stamps;
      readonly changed?: Stamps;
    },
  ): Replacement | undefined {
    const made = this.#cleared && this.make(body);
    if (made === undefined) return undefined;
    const entity: Record<string, unknown> = { ...made, ..._id !== undefined && { _id }, ...added };
    const { schema } = this.#model;
    // A PUT sets immutable fields only on a new entity.
    const given = Object.keys(body).filter((name) => {
      const field = this.#shape.fields.get(name);
      return field?.writable && !isSetOnce(field);
    });
    const names = new Set([...this.#cleared ?? [], ...given, ...Object.keys(changed)]);
    const { updatedAt } = stampFields(schema as Schema);
    const isWritten = ([name]: [string, unknown]) => names.has(name) || name === updatedAt;
    const changes = Object.entries(entity).filter(isWritten);
    const others = Object.entries(entity).filter((entry) => !isWritten(entry));
    const missing = [...names].filter((name) => !Object.hasOwn(entity, name));
    const key = schema.get("versionKey") as string;
    const isNew = { $eq: ["$$ROOT", { $literal: { [by]: entity[by] } }] };
    const before = { $cond: [isNew, { $literal: Object.fromEntries(others) }, "$$ROOT"] };
    const version = { $cond: [isNew, 0, { $add: [{ $max: [`$${key}`, 0] }, 1] }] };
    const set = { $literal: Object.fromEntries(changes) };
    const stages = [
      { $replaceWith: { $mergeObjects: [before, set, { [key]: version }] } },
      ...missing.length > 0 ? [{ $unset: missing }] : [],
    ];
    return { entity, stages, written: [...names] };
  }
}

/**
 * Whether a PUT clears the whole field: it keeps read-only and hidden fields inside, and fields that a function makes
 * immutable.
 */
function isClearedWhole([, field]: readonly [string, FieldShape]): boolean {
  const { kind, type, shape, element } = field;
  if (isImmutableAtTimes(type) || isImmutableAtTimes(element?.type)) return false;
  if (!isClearable(field) || kind !== "object" && kind !== "map") return true;
  return type !== undefined && (shape ?? element?.shape)?.guarded !== true;
}

/** `undefined` for compound fields, for values that cannot be cast, and for references to entities that must exist. */
export function flatFields(
  body: JsonObject,
  shape: Shape,
): Record<string, unknown> | undefined {
  const flat = Object.entries(body).every(([name, value]) => {
    const field = shape.fields.get(name);
    return field === undefined || !field.writable || (value !== null && isFlat(field));
  });
  if (!flat) return undefined;
  const cast = new BodyCast("", new Map(), { runsSetters: true });
  const values = cast.fields(body, shape);
  return cast.hasProblems || cast.references.size > 0 ? undefined : values;
}

function isFlat({ kind, element }: FieldShape): boolean {
  return kind === "scalar" || (kind === "array" && element?.kind === "scalar");
}

/** The validators run without a document, so they must look at the value alone. */
export function areValid(
  values: Readonly<Record<string, unknown>>,
  fields: Iterable<readonly [string, FieldShape]>,
): MaybePromise<boolean> {
  const asynchronous: Promise<boolean>[] = [];
  const mayPassValidator = (value: unknown, validator: unknown): boolean => {
    if (typeof validator !== "function") return false;
    try {
      const result: unknown = validator.call({}, value);
      if (!isPromise(result)) return result === undefined || Boolean(result);
      asynchronous.push(Promise.resolve(result).then((each) => each !== false, () => false));
      return true;
    } catch {
      return false;
    }
  };
  const mayPass = (value: unknown, { type, element }: FieldShape): boolean => {
    const passes = type?.validators.every(({ type: kind, validator }) =>
      (value === undefined && kind !== "required") || mayPassValidator(value, validator)
    );
    return passes === true && (element === undefined || !Array.isArray(value) ||
      value.every((each) => mayPass(each, element)));
  };
  for (const [name, field] of fields) {
    if (!mayPass(values[name], field)) return false;
  }
  return asynchronous.length === 0 ||
    Promise.all(asynchronous).then((all) => all.every(Boolean));
}

export function timeStamps(
  model: Model<unknown>,
  ...kinds: ("createdAt" | "updatedAt")[]
): Record<string, unknown> {
  const schema = model.schema as Schema;
  const fields = stampFields(schema);
  const now = model.base.now();
  return Object.fromEntries(
    kinds.flatMap((kind) => fields[kind] ?? []).map((name) => [name, schema.path(name).cast(now)]),
  );
}
