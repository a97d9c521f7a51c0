import type { Connection, Model, Schema } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { virtualsOf } from "../mongoose/schemas/schema_members.ts";

/** `"all"`, or paths. A path includes all paths below it. */
export type Names = "all" | ReadonlySet<string>;

export interface Adoption {
  readonly model: Model<unknown>;
  readonly connection?: Connection;
  readonly shown: Names;
  /** Further virtuals to show, because `shown: "all"` means all paths, but no virtuals. */
  readonly virtuals: ReadonlySet<string>;
  readonly writable: Names;
  /** The classes of embedded objects with routes, by path. */
  readonly parts: ReadonlyMap<string, ModelClass>;
  /** For a class in `parts`: the path of its objects. */
  readonly path?: string;
}

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

export function classOfModel(model: unknown): ModelClass | undefined {
  return typeof model === "function" ? classes.get(model) : undefined;
}

export function markAdopted(copy: Schema): void {
  copies.add(copy);
}

/** The application declares its paths and indexes, so Mongrove adds none. */
export function isAdopted(schema: Schema): boolean {
  return copies.has(schema);
}
