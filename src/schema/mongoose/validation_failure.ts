import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { SchemaIssues } from "../standard_schema.ts";
import { originOf } from "./error_origin.ts";
import { hasComputedDefault } from "./fields/default_value.ts";
import { hasOwnSetters, isRequiredAtTimes } from "./fields/field_rules.ts";

const { CastError, ValidationError, ValidatorError } = mongoose.Error;

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

interface Kept {
  readonly problem: unknown;
  /** That of the document, if it is the framework's. */
  readonly schema: Schema | undefined;
}

/** Mongoose keeps what other functions of a field throw as the problem itself; a setter's is the reason of a CastError. */
function thrownAt(path: string, { problem, schema }: Kept): unknown {
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
