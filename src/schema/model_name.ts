import mongoose from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { memoize } from "./memoize.ts";

/** Fields refer to models by name as well. No class is kept alive for that. */
const classes = new Map<string, WeakRef<ModelClass>>();

/** Gives the name under which Mongoose knows a class: the class's own, numbered where classes share it. */
export const modelName = memoize((target: ModelClass): string => {
  let name = target.name;
  for (let count = 2; classes.has(name); count++) name = `${target.name}~${count}`;
  classes.set(name, new WeakRef(target));
  return name;
});

export function classOf(name: string): ModelClass | undefined {
  return classes.get(name)?.deref();
}

/** Gives the class behind a `ref`: a name, a model, or a thunk of either. */
export function referredClass(ref: unknown): ModelClass | undefined {
  if (typeof ref === "string") return classOf(ref);
  if (typeof ref !== "function") return undefined;
  const { modelName } = ref as { modelName?: unknown };
  if (typeof modelName === "string") return classOf(modelName);
  if (ref.prototype !== undefined) return undefined;
  try {
    return referredClass(ref());
  } catch {
    // It depends on the document.
    return undefined;
  }
}

/** Gives the collection of a class: the one that its schema options name, or Mongoose's plural of its name. */
export function collectionName(target: ModelClass, schema: mongoose.Schema): string {
  const given = schema.get("collection");
  if (given !== undefined) return given;
  if (target.name === "") {
    throw new TypeError(
      "Cannot name the collection of a class without a name: set schemaOptions.collection",
    );
  }
  return mongoose.pluralize()?.(target.name) ?? target.name;
}
