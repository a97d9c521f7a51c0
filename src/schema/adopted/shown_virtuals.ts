import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { memoize } from "../memoize.ts";

const shownVirtuals = new WeakMap<Schema, ReadonlySet<string>>();

/** Unshown virtuals stay for the methods of the application. */
export function showVirtuals(copy: Schema, names: ReadonlySet<string>): void {
  shownVirtuals.set(copy, names);
}

/** Every virtual of a schema that is no copy is shown, and so is an `id` that repeats the `_id`. */
export function showsVirtual(schema: Schema, name: string): boolean {
  return (shownVirtuals.get(schema)?.has(name) ?? true) || name === "id" && repeatsId(schema);
}

/** An application may give its own meaning to `id`. */
const repeatsId = memoize((schema: Schema): boolean => {
  const _id = new mongoose.Types.ObjectId();
  try {
    const value: unknown = schema.virtualpath("id")?.applyGetters(undefined, { _id } as never);
    return String(value) === String(_id);
  } catch {
    return false;
  }
});
