import mongoose from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { memoize } from "./memoize.ts";

/** The references are weak, so the map keeps no class alive. */
const classes = new Map<string, WeakRef<ModelClass>>();

/** Mongoose needs unique model names, so a class with the name of an earlier class gets a number. */
export const modelName = memoize((target: ModelClass): string => {
  let name = target.name;
  for (let count = 2; classes.has(name); count++) name = `${target.name}~${count}`;
  classes.set(name, new WeakRef(target));
  return name;
});

export function classOf(name: string): ModelClass | undefined {
  return classes.get(name)?.deref();
}

/** A `ref` is a name, a model, or a function that returns a name or a model. `undefined` if no class is known. */
export function referredClass(ref: unknown): ModelClass | undefined {
  if (typeof ref === "string") return classOf(ref);
  if (typeof ref !== "function") return undefined;
  const { modelName } = ref as { modelName?: unknown };
  if (typeof modelName === "string") return classOf(modelName);
  if (ref.prototype !== undefined) return undefined;
  try {
    return referredClass(ref());
  } catch {
    // A `ref` function that throws without a document depends on the document, so it has no fixed class.
    return undefined;
  }
}

/** The default is Mongoose's plural of the class name. */
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
