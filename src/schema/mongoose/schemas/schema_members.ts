import mongoose from "mongoose";
import type { Schema } from "mongoose";
import type { Knowledge } from "../knowledge.ts";
import { VALUES_KEY } from "../documents/raw_values.ts";

/** Members that schemas may have of themselves. */
const USUAL = new Set(["initializeTimestamps"]);

const ownMembers = new WeakSet<object>();

/** Marks a method of documents as the framework's own, which changes nothing that is stored or shown. */
export function markOwnMember(fn: object): void {
  ownMembers.add(fn);
}

/** What every document owns besides the members of its prototype. */
const DOCUMENT_MEMBERS = ["schema", "isNew", "errors", "db", "discriminators", VALUES_KEY];

/** Names that no field can have: Mongoose refuses them, or documents own them. */
export function reservedNames(): string[] {
  const { reserved } = mongoose.Schema as unknown as { reserved: object };
  return [...Object.keys(reserved), ...DOCUMENT_MEMBERS];
}

export function virtualsOf(schema: Schema): Record<string, unknown> {
  return (schema as unknown as { virtuals: Record<string, unknown> }).virtuals;
}

/** Whether methods or statics of a schema replace Mongoose's own, or run for every new document. */
export function replacesMembers(schema: Schema): boolean {
  const { callQueue } = schema as unknown as { callQueue: readonly [string, unknown][] };
  const isOwn = (name: string) => ownMembers.has(schema.methods[name] as object);
  return callQueue.some(([name]) => !isOwn(name)) ||
    Object.keys(schema.methods).some((name) =>
      name in mongoose.Model.prototype && !USUAL.has(name) && !isOwn(name)
    ) ||
    Object.keys(schema.statics).some((name) => name in mongoose.Model);
}

/** Virtuals are shown, and those of aliases are hidden with their fields. */
export const VIRTUALS: Knowledge = {
  name: "virtuals of schemas",
  holds: ({ schema }) => Object.hasOwn(virtualsOf(schema) ?? {}, "shown"),
};

export const MEMBERS: Knowledge = {
  name: "methods and statics of schemas",
  holds({ schema, model }) {
    const changed = [0, 1, 2].map(() => schema.clone() as Schema);
    changed[0]?.method("save", () => {});
    changed[1]?.static("find", () => {});
    changed[2]?.queue("own", []);
    return !replacesMembers(model.schema as Schema) && changed.every(replacesMembers);
  },
};
