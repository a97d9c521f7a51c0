import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { holdsPromise } from "./schemas/refuse_promises.ts";
import { markOwn } from "./schemas/schema_members.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { SchemaIssues } from "../standard_schema.ts";

const { CastError, ValidationError, ValidatorError } = mongoose.Error;

export interface ErrorOrigin {
  readonly target: ModelClass;
  readonly schema: Schema;
}

const origins = new WeakMap<object, ErrorOrigin>();

/**
 * Without the model of an error, a response could name hidden fields, or blame the client for an error of another
 * model.
 */
export function markErrors(schema: Schema, target: ModelClass): void {
  for (const operation of ["validate", "save"] as const) {
    const mark = markOwn(function (this: Document, error: Error, _doc: unknown, next: Next): void {
      markError(error, { doc: this, target });
      next(error);
    });
    schema.post(operation, mark as never);
  }
  if (schema.methods.invalidate !== undefined) return;
  schema.method("invalidate", invalidate as never, { suppressWarning: true });
}

/**
 * Mongoose joins all messages again for each new error, so 5,000 wrong values would block the process for seconds.
 * `markError()` joins them once.
 */
const invalidate = markOwn(function (this: Document, ...args: unknown[]): unknown {
  const { Document, Types: { Subdocument } } = mongoose;
  const { prototype } = this instanceof Subdocument ? Subdocument : Document;
  const error: unknown = (prototype.invalidate as (...args: unknown[]) => unknown)
    .apply(this, args);
  const [path, problem] = args;
  if (isCastError(problem) && holdsPromise(problem.value)) {
    problem.message = `"${path}" is or holds a promise, so an "await" is missing`;
  }
  const { validationError } = (this as unknown as ValidatedDocument).$__;
  if (validationError !== undefined) {
    Object.defineProperty(validationError, "addError", { value: addError, configurable: true });
  }
  return error;
});

interface ValidatedDocument {
  readonly "$__": { readonly validationError?: object };
}

function addError(this: JoinedError, path: string, problem: Error): void {
  if (!(problem instanceof ValidationError)) this.errors[path] = problem;
  else {
    for (const [below, each] of Object.entries(problem.errors)) {
      addError.call(this, `${path}.${below}`, each);
    }
  }
}

interface JoinedError {
  readonly errors: Record<string, Error>;
}

function joinMessages(error: InstanceType<typeof ValidationError>): void {
  const messages = Object.entries(error.errors).map(([path, { message }]) => `${path}: ${message}`);
  const { _message } = error as { _message?: string };
  error.message = `${_message}: ${messages.join(", ")}`;
}

type Next = (error: Error) => void;

/**
 * Middleware may save another document, whose error arrives here too. Only the document with the problems is its
 * origin.
 */
function markError(
  error: unknown,
  { doc, target }: { doc: Document; target: ModelClass },
): void {
  if (!(error instanceof mongoose.Error) || origins.has(error)) return;
  if (error instanceof ValidationError) {
    if (!holds(doc, error.errors)) return;
    joinMessages(error);
  }
  origins.set(error, { target, schema: doc.schema as Schema });
}

/** Mongoose puts the problems of failed casts into a new error, so the problems are compared instead of the errors. */
function holds(doc: Document, errors: Readonly<Record<string, unknown>>): boolean {
  const { $errors = {} } = doc as { $errors?: Readonly<Record<string, unknown>> };
  return Object.keys(errors).some((path) => $errors[path] === errors[path]);
}

export function errorOrigin(error: object): ErrorOrigin | undefined {
  return origins.get(error);
}

export function isFailureOf(error: object, targets: readonly ModelClass[]): boolean {
  const origin = errorOrigin(error)?.target;
  return origin !== undefined &&
    targets.some((each) => isKind(each, origin) || isKind(origin, each));
}

export function isForeign(error: unknown, targets: readonly ModelClass[]): boolean {
  return error instanceof ValidationError && !isFailureOf(error, targets);
}

function isKind(target: ModelClass, base: ModelClass): boolean {
  return target === base || target.prototype instanceof base;
}

export function validationFailure(error: unknown): { readonly thrown: unknown } | undefined {
  if (!(error instanceof ValidationError)) return undefined;
  for (const problem of Object.values(error.errors) as unknown[]) {
    const inner = validationFailure(problem);
    if (inner !== undefined) return inner;
    const thrown = thrownIn(problem);
    if (saysWrong(thrown)) continue;
    return { thrown: thrown instanceof HookFailure ? thrown.thrown : thrown };
  }
  return undefined;
}

export function isCastError(problem: unknown): problem is InstanceType<typeof CastError> {
  return problem instanceof CastError;
}

/** The error of a stored value that Mongoose could not cast, which the client has not caused. */
export function isUncastStored(problem: unknown): boolean {
  return isWrongElement(problem) || problem instanceof ValidatorError && problem.kind === "cast" &&
      problem.reason instanceof mongoose.Error;
}

/** Mongoose throws this error when it validates an empty string in a list of embedded objects. */
export function isWrongElement(problem: unknown): boolean {
  return problem instanceof mongoose.Error && problem.name === "ObjectParameterError";
}

/**
 * An error of `invalidate()` always reaches the client. A validator's error for a hidden value does not, unless the
 * client has set it.
 */
export function isValidatorError(problem: unknown): boolean {
  if (!(problem instanceof ValidatorError)) return false;
  const { validator } = problem.properties as { readonly validator?: unknown };
  return typeof validator === "function" || validator instanceof RegExp;
}

/**
 * An error that a validator throws becomes the `reason` of Mongoose's error. Mongoose does not wrap other errors of the
 * application.
 */
function thrownIn(problem: unknown): unknown {
  if (problem instanceof ValidatorError) {
    return problem.kind === "cast" ? undefined : problem.reason;
  }
  return problem instanceof mongoose.Error ? undefined : problem;
}

/**
 * A validator may refuse a value by a plain `Error`, as Mongoose documents, or by an error of a validation library.
 * Other errors are the application's failures.
 */
function saysWrong(thrown: unknown): boolean {
  if (typeof thrown !== "object" || thrown === null) return true;
  if (thrown instanceof SchemaIssues || thrown instanceof ValidatorError) return true;
  if (thrown instanceof mongoose.Error || thrown instanceof HookFailure) return false;
  const { name, issues } = thrown as { name?: unknown; issues?: unknown };
  if (name === "ValidationError" || Array.isArray(issues)) return true;
  return Object.getPrototypeOf(thrown) === Error.prototype && Object.keys(thrown).length === 0 &&
    !("cause" in thrown);
}
