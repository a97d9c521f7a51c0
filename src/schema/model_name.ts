import mongoose from "mongoose";
import type { ModelClass } from "../declare/model/model_class.ts";

const names = new WeakMap<ModelClass, string>();
const claims = new Map<string, number>();
const classes = new Map<string, ModelClass>();

/** Gives the name under which Mongoose knows a class: the class's own, numbered where classes share it. */
export function modelName(target: ModelClass): string {
  const known = names.get(target);
  if (known !== undefined) return known;
  const count = (claims.get(target.name) ?? 0) + 1;
  claims.set(target.name, count);
  const name = count === 1 ? target.name : `${target.name}~${count}`;
  names.set(target, name);
  classes.set(name, target);
  return name;
}

/** Gives the class behind a name of Mongoose's, if it is one of ours. */
export function classOf(name: string): ModelClass | undefined {
  return classes.get(name);
}

/**
 * Gives the collection of a class: the one that its schema options name, or Mongoose's plural of its name.
 *
 * @throws {TypeError} If the class has no name and the options name no collection.
 */
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
