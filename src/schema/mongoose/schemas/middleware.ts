import type { Schema } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

interface SchemaMiddleware {
  readonly _pres: ReadonlyMap<string, readonly { readonly fn: object }[]>;
  readonly _posts: ReadonlyMap<string, readonly { readonly fn: object }[]>;
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
    [hooks._pres, hooks._posts].some((kind) =>
      kind.get(name)?.some(({ fn }) => !ownMiddleware.has(fn) && !(BUILT_IN in fn)) === true
    )
  );
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
