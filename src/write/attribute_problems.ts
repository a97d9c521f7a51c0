import type { Document } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { topOf } from "../filter/filters.ts";
import { isJsonObject, type JsonObject, namesPath } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { hasField, isHiddenPath, isSettable, secrecyOf } from "../schema/fields/visibility.ts";
import { isUncastStored, isValidatorError, isWrongElement } from "../schema/mongoose/errors.ts";
import { filterErrors } from "../schema/mongoose/statements/filter_errors.ts";
import { ComparedValues } from "./compared_values.ts";
import { keepUncastValue } from "./keep_uncast_values.ts";
import { asFailedCast, excludeBodyCasts, type FailedCast, failureText } from "./failed_casts.ts";
import { valueAt } from "../store/values.ts";
import { existingSnapshot } from "./stored_values.ts";

export interface Writer {
  readonly shape: Shape;
  readonly target: ModelClass;
  readonly body?: JsonObject | undefined;
}

/** The client cannot repair a stored value that it does not see, so it gets no validation error. */
export function attributeProblems(doc: Document, writer: Writer): void {
  excludeBodyCasts(doc);
  filterErrors(doc, (problems) => {
    let failure: Error | undefined;
    const values = new ComparedValues(doc);
    for (const [path, problem] of Object.entries(problems)) {
      const failed = asFailedCast(path, problem);
      if (failed !== undefined) throw castFailure(failed, writer);
      const origin = originOf({ path, problem, values, doc }, writer);
      if (origin === "client") continue;
      delete problems[path];
      if (origin === "application") failure ??= hiddenFailure({ path, problem }, writer);
    }
    if (failure !== undefined && Object.keys(problems).length === 0) throw failure;
  });
}

interface FoundProblem {
  readonly path: string;
  readonly problem: unknown;
}

function originOf(
  { path, problem, values, doc }: FoundProblem & {
    readonly values: ComparedValues;
    readonly doc: Document;
  },
  { shape, body }: Writer,
): "client" | "stored" | "application" {
  const isVisible = hasField(topOf(path), shape) ||
    !isValidatorError(problem) && !isUncastStored(problem);
  const secrecy = isVisible ? secrecyOf(path, shape) : "secret";
  if (secrecy === undefined) return "client";
  if (isUncastStored(problem) && (!values.isTouched(path) || staysStored({ path, problem, doc }))) {
    return "stored";
  }
  // A wrong hidden value in the body is an error even if equal to the stored one, or else a client could guess the
  // stored value.
  if (namesPath(body, path) && isSettable(path, shape)) return "client";
  if (isUncastStored(problem)) return secrecy === "holder" ? "client" : "application";
  if (!isValidatorError(problem)) return "client";
  const change = values.changeOf(path);
  if (change === undefined) return "stored";
  return secrecy === "holder" || change === "missing" ? "client" : "application";
}

/** A save would remove a stored value that cannot be cast, so it fails unless this function puts the value back. */
function staysStored({ path, problem, doc }: FoundProblem & { readonly doc: Document }): boolean {
  const stored = valueAt(existingSnapshot(doc)?.values, path);
  const isSetByHook = isWrongElement(problem) && Array.isArray(stored) &&
    stored.every(isJsonObject);
  return !isSetByHook && keepUncastValue(doc, path);
}

function hiddenFailure({ path, problem }: FoundProblem, { target }: Writer): Error {
  const { kind } = problem as { readonly kind?: unknown };
  const reason = isUncastStored(problem) && !isWrongElement(problem)
    ? `the stored value of the hidden property "${path}" cannot be cast to its type`
    : `a hook or an action has set the hidden property "${path}" to a value that is not valid (${
      kind ?? "object"
    })`;
  return new TypeError(`Cannot save "${target.name}": ${reason}`);
}

/** Mongoose's error as the cause would show a hidden value. */
export function castFailure(found: FailedCast, { shape, target }: Writer): Error {
  const { path, problem } = found;
  return new TypeError(
    `Cannot save "${target.name}": a hook or an action has set a wrong value, ${
      failureText(found)
    }`,
    isHiddenPath(path, shape) ? {} : { cause: problem },
  );
}
