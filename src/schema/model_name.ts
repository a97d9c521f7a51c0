import mongoose from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { adoptionOf } from "./adopted/adoption.ts";
import { memoize } from "./memoize.ts";

const classes = new Map<string, WeakRef<ModelClass>>();

/** Mongoose needs unique model names. */
export const modelName = memoize((target: ModelClass): string => {
  let name = target.name;
  for (let count = 2; classes.has(name); count++) name = `${target.name}~${count}`;
  classes.set(name, new WeakRef(target));
  if (adoptionOf(target) === undefined) return name;
  // The suffix leaves the name on the connection to the application's model.
  classes.set(`${name}~adopted`, new WeakRef(target));
  return `${name}~adopted`;
});

export function classOf(name: string): ModelClass | undefined {
  return classes.get(name)?.deref();
}

export function referredClass(ref: unknown): ModelClass | undefined {
  if (typeof ref === "string") return classOf(ref);
  if (typeof ref !== "function") return undefined;
  const { modelName } = ref as { modelName?: unknown };
  if (typeof modelName === "string") return classOf(modelName);
  if (ref.prototype !== undefined) return undefined;
  try {
    return referredClass(ref());
  } catch {
    // A `ref` function that depends on the document throws here, and has no fixed class.
    return undefined;
  }
}

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
