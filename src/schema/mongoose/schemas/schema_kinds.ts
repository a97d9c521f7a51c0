import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { memoize } from "../../memoize.ts";

interface KindHolder {
  readonly discriminators?: Readonly<Record<string, Schema>> | null;
  /** The schemas of discriminators before compilation. */
  readonly _applyDiscriminators?: ReadonlyMap<string, { readonly schema: Schema }>;
}

/** Mongoose later merges the fields of the base into some of the schemas, so they are cloned. */
const cloneOf = memoize((kind: Schema) => kind.clone() as Schema);

const NO_KINDS: ReadonlyMap<string, Schema> = new Map();

export function kindSchemas(schema: Schema): ReadonlyMap<string, Schema> {
  const { discriminators, _applyDiscriminators: declared } = schema as unknown as KindHolder;
  if (!discriminators && !declared) return NO_KINDS;
  const kinds = new Map(Object.entries(discriminators ?? {}));
  for (const [name, kind] of declared ?? []) kinds.set(name, kind.schema);
  return new Map([...kinds].map(([name, kind]) => [name, cloneOf(kind)]));
}

/** Routes are built before Mongoose compiles a model and adds the discriminator key, so it is added here. */
export function declareKindKey(schema: Schema): void {
  const { _applyDiscriminators: declared } = schema as unknown as KindHolder;
  const key = String(schema.get("discriminatorKey"));
  if (!declared?.size || schema.path(key) !== undefined) return;
  const field = { type: String, default: undefined, select: true, $skipDiscriminatorCheck: true };
  schema.add({ [key]: field } as Parameters<Schema["add"]>[0]);
}

type AddKind = (name: unknown, kind: unknown, ...options: unknown[]) => { readonly schema: Schema };

interface KindHooks {
  readonly check: (name: string, kind: Schema) => void;
  /** Runs after Mongoose has added the fields of the base to a discriminator. */
  readonly finish: (kind: Schema) => void;
}

/**
 * Replaces `discriminator()`, because an application may call it at any time, and Mongoose has no middleware for it.
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
