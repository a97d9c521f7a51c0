import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { memoize } from "../memoize.ts";

const shownVirtuals = new WeakMap<Schema, ReadonlySet<string>>();

/** Virtuals that are not shown stay in the schema for the application's methods. */
export function showVirtuals(copy: Schema, names: ReadonlySet<string>): void {
  shownVirtuals.set(copy, names);
}

export function showsVirtual(schema: Schema, name: string): boolean {
  return (shownVirtuals.get(schema)?.has(name) ?? true) || name === "id" && repeatsId(schema);
}

/** An `id` that repeats the `_id` is shown, unless the application redefines it. */
const repeatsId = memoize((schema: Schema): boolean => {
  const _id = new mongoose.Types.ObjectId();
  try {
    const value: unknown = schema.virtualpath("id")?.applyGetters(undefined, { _id } as never);
    return String(value) === String(_id);
  } catch {
    return false;
  }
});
