import type { Schema } from "mongoose";

const shownVirtuals = new WeakMap<Schema, ReadonlySet<string>>();

/** Unshown virtuals stay for the methods of the application. */
export function showVirtuals(copy: Schema, names: ReadonlySet<string>): void {
  shownVirtuals.set(copy, names);
}

/** Every virtual of a schema that is no copy is shown, and so is `id`, which repeats the `_id`. */
export function showsVirtual(schema: Schema, name: string): boolean {
  return name === "id" || (shownVirtuals.get(schema)?.has(name) ?? true);
}
