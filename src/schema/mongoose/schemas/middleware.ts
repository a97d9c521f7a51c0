import type { Document, Schema } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

interface Hook {
  readonly fn: object;
}

interface SchemaMiddleware {
  readonly _pres: ReadonlyMap<string, readonly Hook[]>;
  readonly _posts: ReadonlyMap<string, readonly Hook[]>;
}

interface DocumentMiddleware {
  filter(keeps: (hook: Hook) => boolean): DocumentMiddleware;
}

/** Mongoose's mark on its own middleware. */
const BUILT_IN = Symbol.for("mongoose:built-in-middleware");

const ownMiddleware = new WeakSet<object>();

/** Marks middleware as the framework's own, which changes nothing that users could see. */
export function markOwnMiddleware(fn: object): void {
  ownMiddleware.add(fn);
}

/** Whether a schema has middleware of the user's for one of several operations. */
export function hasMiddleware(schema: Schema, names: readonly string[]): boolean {
  const { hooks } = (schema as unknown as { s: { hooks: SchemaMiddleware } }).s;
  return names.some((name) =>
    [hooks._pres, hooks._posts].some((kind) => kind.get(name)?.some((hook) => !isKnown(hook)))
  );
}

function isKnown({ fn }: Hook): boolean {
  return ownMiddleware.has(fn) || BUILT_IN in fn;
}

/** Takes the user's middleware from a document that will not be saved, and from all that it embeds. */
export function dropMiddleware(doc: Document): void {
  for (const each of [doc, ...doc.$getAllSubdocs()]) {
    const holder = each as unknown as { $__middleware: DocumentMiddleware };
    holder.$__middleware = holder.$__middleware.filter(isKnown);
  }
}

export const MIDDLEWARE: Knowledge = {
  name: "middleware of schemas",
  holds({ schema, model }) {
    const own = schema.clone() as Schema;
    own.pre("save", () => {});
    own.post("findOne", () => {});
    return !hasMiddleware(model.schema as Schema, [
      "save",
      "validate",
      "init",
      "find",
      "deleteOne",
    ]) &&
      hasMiddleware(own, ["save"]) && hasMiddleware(own, ["find", "findOne"]) &&
      !hasMiddleware(own, ["find"]);
  },
};
