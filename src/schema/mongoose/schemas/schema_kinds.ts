import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { memoize } from "../../memoize.ts";

interface KindHolder {
  /**
   * The schemas of the discriminators that were added to the compiled model. Mongoose has added the fields of the base
   * to them, so they describe all fields of the discriminators.
   */
  readonly discriminators?: Readonly<Record<string, Schema>> | null;
  /** The discriminators that `schema.discriminator()` has declared, before a model is compiled. */
  readonly _applyDiscriminators?: ReadonlyMap<string, { readonly schema: Schema }>;
}

/**
 * Returns a copy of the schema of a discriminator, from which the fields are described. Mongoose merges the fields of
 * the base into some of the original schemas later.
 */
const cloneOf = memoize((kind: Schema) => kind.clone() as Schema);

const NO_KINDS: ReadonlyMap<string, Schema> = new Map();

/**
 * Returns the schemas of the discriminators that a schema has at the time of the call, by name, so that the fields of
 * the discriminators are known before a model is compiled.
 */
export function kindSchemas(schema: Schema): ReadonlyMap<string, Schema> {
  const { discriminators, _applyDiscriminators: declared } = schema as unknown as KindHolder;
  if (!discriminators && !declared) return NO_KINDS;
  const kinds = new Map(Object.entries(discriminators ?? {}));
  for (const [name, kind] of declared ?? []) kinds.set(name, kind.schema);
  return new Map([...kinds].map(([name, kind]) => [name, cloneOf(kind)]));
}

/**
 * Adds the discriminator key to a schema with discriminators. Mongoose adds the key only when Mongoose compiles a
 * model. Routes are built before the first model is compiled, so they would not know the key.
 */
export function declareKindKey(schema: Schema): void {
  const { _applyDiscriminators: declared } = schema as unknown as KindHolder;
  const key = String(schema.get("discriminatorKey"));
  if (!declared?.size || schema.path(key) !== undefined) return;
  const field = { type: String, default: undefined, select: true, $skipDiscriminatorCheck: true };
  schema.add({ [key]: field } as Parameters<Schema["add"]>[0]);
}

type AddKind = (name: unknown, kind: unknown, ...options: unknown[]) => { readonly schema: Schema };

interface KindHooks {
  /**
   * The function that may refuse a discriminator by an error. It runs before the discriminator is added to a compiled
   * model, and a refused discriminator is not added.
   */
  readonly check: (name: string, kind: Schema) => void;
  /**
   * The function that prepares the complete schema of a discriminator, for example so that JSON hides its hidden
   * fields. It runs after Mongoose has added the fields of the base.
   */
  readonly finish: (kind: Schema) => void;
}

/**
 * Checks each discriminator before it is added to a compiled model, and prepares its schema afterwards, for example so
 * that JSON hides its hidden fields. An application may add discriminators at any time, and Mongoose has no middleware
 * for this event, so the `discriminator()` method of the model is replaced.
 */
export function watchKinds(model: Model<unknown>, { check, finish }: KindHooks): void {
  for (const { schema } of Object.values(model.discriminators ?? {})) finish(schema as Schema);
  const add = Reflect.get(model, "discriminator") as AddKind;
  const discriminator: AddKind = (name, given, ...options) => {
    const kind = given instanceof mongoose.Schema ? given : new mongoose.Schema(given as object);
    check(String(name), kind as Schema);
    const added = Reflect.apply(add, model, [name, kind, ...options]);
    finish(added.schema);
    return added;
  };
  Object.defineProperty(model, "discriminator", { value: discriminator, configurable: true });
}
