import type { Document } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { type JsonObject, namesPath } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { isHiddenPath, secrecyOf } from "../schema/fields/visibility.ts";
import { isBrokenRule, isMisfit } from "../schema/mongoose/errors.ts";
import { judgeValidation } from "../schema/mongoose/statements/judge_validation.ts";
import { ComparedValues } from "./compared_values.ts";
import { asFailedSet, excuseFailedSets, type FailedSet, wordsOf } from "./failed_sets.ts";

export interface Writer {
  /** The fields as the client may see them. */
  readonly shape: Shape;
  readonly target: ModelClass;
  /** The body that was merged into the document. */
  readonly body?: JsonObject | undefined;
}

/**
 * Has validations of a document distinguish who has set a value that breaks a rule. A client answers for what it sees and
 * for what it has sent. Stored values that the client does not see are not validated for it. Hidden values that hooks or
 * actions have set, and values of theirs that cannot be cast, are an error of the application.
 */
export function attributeProblems(doc: Document, writer: Writer): void {
  excuseFailedSets(doc);
  judgeValidation(doc, (problems) => {
    let failure: Error | undefined;
    const values = new ComparedValues(doc);
    for (const [path, problem] of Object.entries(problems)) {
      const failed = asFailedSet(path, problem);
      if (failed !== undefined) throw castFailure(failed, writer);
      const origin = originOf({ path, problem, values }, writer);
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
  { path, problem, values }: FoundProblem & { readonly values: ComparedValues },
  { shape, body }: Writer,
): "client" | "stored" | "application" {
  const secrecy = secrecyOf(path, shape);
  // A guess that equals the stored value answers as any other one.
  if (secrecy === undefined || namesPath(body, path)) return "client";
  // Mongoose would write what is around such a value without the value.
  if (isMisfit(problem)) return values.isTouched(path) ? "application" : "stored";
  if (!isBrokenRule(problem)) return "client";
  const change = values.changeOf(path);
  if (change === undefined) return "stored";
  return secrecy === "holder" || change === "missing" ? "client" : "application";
}

function hiddenFailure({ path, problem }: FoundProblem, { target }: Writer): Error {
  const { kind } = problem as { readonly kind?: unknown };
  const reason = isMisfit(problem)
    ? `the stored value of the hidden property "${path}" cannot be cast to its type`
    : `a hook or an action has set the hidden property "${path}" to a value that is not valid (${kind})`;
  return new TypeError(`Cannot save "${target.name}": ${reason}`);
}

/** Returns the error for a value that a hook or an action has set, and that Mongoose could not cast. */
export function castFailure(found: FailedSet, { shape, target }: Writer): Error {
  const { path, problem } = found;
  return new TypeError(
    `Cannot save "${target.name}": a hook or an action has set a wrong value, ${wordsOf(found)}`,
    isHiddenPath(path, shape) ? {} : { cause: problem },
  );
}
