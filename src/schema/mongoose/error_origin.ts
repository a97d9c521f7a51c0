import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { markOwnMiddleware } from "./schemas/middleware.ts";

const { ValidationError } = mongoose.Error;

export interface ErrorOrigin {
  readonly target: ModelClass;
  readonly schema: Schema;
}

const origins = new WeakMap<object, ErrorOrigin>();

/** Makes documents of a schema leave a mark on the errors of their validation and saves: Mongoose does not tell whose they are. */
export function markErrors(schema: Schema, target: ModelClass): void {
  for (const operation of ["validate", "save"] as const) {
    const mark = function (this: Document, error: Error, _doc: unknown, next: Next): void {
      markError(error, { doc: this, target });
      next(error);
    };
    markOwnMiddleware(mark);
    schema.post(operation, mark as never);
  }
}

type Next = (error: Error) => void;

/** Middleware may write other documents: a validation error belongs to the document that holds its messages. */
function markError(
  error: unknown,
  { doc, target }: { doc: Document; target: ModelClass },
): void {
  if (!(error instanceof mongoose.Error) || origins.has(error)) return;
  if (error instanceof ValidationError && !holds(doc, error.errors)) return;
  origins.set(error, { target, schema: doc.schema as Schema });
}

/** Whether a document holds one of some messages. Mongoose keeps those of values that it could not cast in a new object. */
function holds(doc: Document, errors: Readonly<Record<string, unknown>>): boolean {
  const { $errors = {} } = doc as { $errors?: Readonly<Record<string, unknown>> };
  return Object.keys(errors).some((path) => $errors[path] === errors[path]);
}

/** Gives the document whose validation or save failed, as far as its schema is the framework's. */
export function originOf(error: object): ErrorOrigin | undefined {
  return origins.get(error);
}

/** Tells whether a failed document is of some classes, or of kinds of them. */
export function isOwn(error: object, targets: readonly ModelClass[]): boolean {
  const origin = originOf(error)?.target;
  return origin !== undefined &&
    targets.some((each) => isKind(each, origin) || isKind(origin, each));
}

/** Tells whether an error is a validation error of something else than some classes. */
export function isForeign(error: unknown, targets: readonly ModelClass[]): boolean {
  return error instanceof ValidationError && !isOwn(error, targets);
}

function isKind(target: ModelClass, base: ModelClass): boolean {
  return target === base || target.prototype instanceof base;
}
