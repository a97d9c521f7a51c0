import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { markOwn } from "../schemas/schema_members.ts";

interface InvalidDocument {
  readonly "$__": { readonly validationError?: unknown };
}

type Invalidate = (this: InvalidDocument, ...args: readonly unknown[]) => unknown;

interface JoinedError extends Error {
  readonly errors: Record<string, Error>;
  readonly _message?: string;
  addError(path: string, problem: Error): void;
}

/**
 * Has documents of a schema join the messages of all problems when the joined one is read. Mongoose joins them anew with
 * each problem: a body of 40 kB with 5,000 of them would hold up all clients for seconds.
 */
export function writeMessageLate(schema: Schema): void {
  if (schema.methods.invalidate !== undefined) return;
  schema.method("invalidate", invalidate as never, { suppressWarning: true });
}

const invalidate = markOwn<Invalidate>(function (...args) {
  const result = mongooseMethod(this).apply(this, [...args]);
  const { validationError: error } = this.$__;
  if (error instanceof mongoose.Error.ValidationError) {
    joinWhenRead(error as unknown as JoinedError);
  }
  return result;
});

/** The method that ours replaces: embedded documents have another one than documents. */
function mongooseMethod(doc: object): Invalidate {
  let found: Invalidate = invalidate;
  for (let each: object = doc; found === invalidate; each = Object.getPrototypeOf(each)) {
    found = Object.getOwnPropertyDescriptor(each, "invalidate")?.value ?? found;
  }
  return found;
}

function joinWhenRead(error: JoinedError): void {
  if (Object.hasOwn(error, "addError")) return;
  const { errors, _message } = error;
  const addError = (path: string, problem: Error): void => {
    if (!(problem instanceof mongoose.Error.ValidationError)) {
      errors[path] = problem;
      return;
    }
    for (const [below, each] of Object.entries(problem.errors)) addError(`${path}.${below}`, each);
  };
  const message = () =>
    `${_message}: ${
      Object.entries(errors).map(([path, each]) => `${path}: ${each.message}`).join(", ")
    }`;
  Object.defineProperty(error, "addError", { value: addError });
  const set = (value: unknown) =>
    Object.defineProperty(error, "message", { value, writable: true, configurable: true });
  Object.defineProperty(error, "message", { get: message, set, configurable: true });
}
