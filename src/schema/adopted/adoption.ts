import type { Connection, Model, Schema } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { virtualsOf } from "../mongoose/schemas/schema_members.ts";

/** `"all"` or paths, which name everything below them. */
export type Names = "all" | ReadonlySet<string>;

/** The options of `adopt()` for a model. */
export interface Adoption {
  readonly model: Model<unknown>;
  /** Missing for Mongoose's default connection. */
  readonly connection?: Connection;
  readonly shown: Names;
  /** The names in `shown` may be virtuals too. */
  readonly virtuals: ReadonlySet<string>;
  readonly writable: Names;
  /** The classes of embedded objects with routes, by their path. */
  readonly parts: ReadonlyMap<string, ModelClass>;
  /** The path of the objects inside of the model, for a class in `parts`. */
  readonly path?: string;
}

/** The shown virtuals. */
export function virtualsIn({ model, shown, virtuals }: Adoption): string[] {
  const known = virtualsOf(model.schema as Schema);
  return [
    ...virtuals,
    ...shown === "all" ? [] : [...shown].filter((name) => Object.hasOwn(known, name)),
  ];
}

const adoptions = new WeakMap<ModelClass, Adoption>();
const classes = new WeakMap<object, ModelClass>();
const copies = new WeakSet<Schema>();

export function rememberAdoption(target: ModelClass, adoption: Adoption): void {
  adoptions.set(target, adoption);
  if (adoption.path === undefined) classes.set(adoption.model, target);
}

export function adoptionOf(target: ModelClass): Adoption | undefined {
  return adoptions.get(target);
}

/** The class that stands for a model of the application. */
export function classOfModel(model: unknown): ModelClass | undefined {
  return typeof model === "function" ? classes.get(model) : undefined;
}

export function markAdopted(copy: Schema): void {
  copies.add(copy);
}

/** The application declares the paths and indexes of such a schema, and nothing may add others. */
export function isAdopted(schema: Schema): boolean {
  return copies.has(schema);
}
