import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { markOwn } from "./schemas/schema_members.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { SchemaIssues } from "../standard_schema.ts";
import { hasComputedDefault, hasOwnSetters, isRequiredAtTimes } from "./schemas/field_rules.ts";

const { CastError, ValidationError, ValidatorError } = mongoose.Error;

export interface ErrorOrigin {
  readonly target: ModelClass;
  readonly schema: Schema;
}

const origins = new WeakMap<object, ErrorOrigin>();

/** Has the errors of a schema's validations and saves tell of which document they are. */
export function markErrors(schema: Schema, target: ModelClass): void {
  for (const operation of ["validate", "save"] as const) {
    const mark = markOwn(function (this: Document, error: Error, _doc: unknown, next: Next): void {
      markError(error, { doc: this, target });
      next(error);
    });
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
export function isFailureOf(error: object, targets: readonly ModelClass[]): boolean {
  const origin = originOf(error)?.target;
  return origin !== undefined &&
    targets.some((each) => isKind(each, origin) || isKind(origin, each));
}

/** Tells whether an error is a validation error of something else than some classes. */
export function isForeign(error: unknown, targets: readonly ModelClass[]): boolean {
  return error instanceof ValidationError && !isFailureOf(error, targets);
}

function isKind(target: ModelClass, base: ModelClass): boolean {
  return target === base || target.prototype instanceof base;
}

/** Gives what a function of the host threw during a validation, unless it says that a value is wrong. */
export function validationFailure(error: unknown): { readonly thrown: unknown } | undefined {
  if (!(error instanceof ValidationError)) return undefined;
  const schema = originOf(error)?.schema;
  for (const [path, problem] of Object.entries(error.errors) as [string, unknown][]) {
    const thrown = problem instanceof ValidationError
      ? validationFailure(problem)?.thrown
      : problem instanceof ValidatorError
      ? thrownByValidator(problem)
      : thrownAt(path, { problem, schema });
    if (thrown === undefined) continue;
    return { thrown: thrown instanceof HookFailure ? thrown.thrown : thrown };
  }
  return undefined;
}

/**
 * Whether what a validator threw says that the value is wrong: an `Error` with nothing but a message, as Mongoose documents
 * it, or an error of a validation library. System errors, for example, hold a code as well.
 */
function saysWrong(thrown: unknown): boolean {
  if (typeof thrown !== "object" || thrown === null) return thrown !== undefined && thrown !== null;
  if (thrown instanceof SchemaIssues || thrown instanceof ValidatorError) return true;
  if (thrown instanceof mongoose.Error || thrown instanceof HookFailure) return false;
  const { name, issues } = thrown as { name?: unknown; issues?: unknown };
  if (name === "ValidationError" || Array.isArray(issues)) return true;
  return Object.getPrototypeOf(thrown) === Error.prototype && Object.keys(thrown).length === 0 &&
    !("cause" in thrown);
}

function thrownByValidator({ reason, kind }: InstanceType<typeof ValidatorError>): unknown {
  // So Mongoose keeps what it could not cast of what is stored.
  if (kind === "cast" && reason instanceof mongoose.Error) return undefined;
  return kind !== "required" && saysWrong(reason) ? undefined : reason;
}

interface PathProblem {
  readonly problem: unknown;
  /** That of the document, if it is the framework's. */
  readonly schema: Schema | undefined;
}

/** Mongoose keeps what other functions of a field throw as the problem itself; a setter's is the reason of a CastError. */
function thrownAt(path: string, { problem, schema }: PathProblem): unknown {
  const type = schema?.path(path);
  if (problem instanceof CastError && `.${path}`.endsWith(`.${problem.path}`)) {
    if (type === undefined) return schema && problem;
    const { reason } = problem;
    return !hasOwnSetters(type) || saysWrong(reason) ? undefined : reason;
  }
  if (type === undefined) return problem;
  const isGiven = !callsOthers(type) && (problem instanceof mongoose.Error || saysWrong(problem));
  return isGiven || isMadeFor(problem, type) ? undefined : problem;
}

/** Whether Mongoose has made an error for a value that a validator refused, of the class that goes with the validator. */
function isMadeFor(problem: unknown, { validators }: SchemaType): boolean {
  return (validators as { readonly ErrorConstructor?: unknown }[]).some(({ ErrorConstructor }) =>
    typeof ErrorConstructor === "function" && problem instanceof ErrorConstructor
  );
}

/** Whether Mongoose keeps what functions of a field throw beside what the host passes to `invalidate()`. */
function callsOthers(type: SchemaType): boolean {
  return isRequiredAtTimes(type) || hasComputedDefault(type) ||
    type.validators.some(({ message }) => typeof message === "function");
}
