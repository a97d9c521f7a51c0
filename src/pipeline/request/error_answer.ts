import {
  translateBulk,
  translateError,
  translateHookFailure,
} from "../../database/translate_error.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { isOutage } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { mayBeRefused } from "../../filter/q/operators.ts";
import { isHiddenPath } from "../../schema/fields/visibility.ts";
import { validationFailure } from "../../schema/mongoose/errors.ts";
import type { LevelCall } from "./call.ts";
import type { ErrorContext } from "./reporter.ts";

/** Gives the answer to an error of a request, and tells the host of those that answer 5xx. */
export async function errorAnswer(acting: LevelCall, error: unknown): Promise<RestError> {
  const { req, route: { levels, reporter }, state, level } = acting;
  const options = {
    // Conditions that a hook has added are not the client's error.
    filtered: mayBeRefused(state.filter),
    isHidden: (path: string) => isHiddenPath(path, level.shape),
    targets: levels.map(({ target }) => target),
    ids: Object.values(req.params).map(String),
    away: acting.isAway(),
  };
  const { answer: known, thrown } = error instanceof HookFailure
    ? { answer: translateHookFailure(error, options), thrown: error.thrown }
    : error instanceof BulkError
    ? translateBulk(error, options)
    : { answer: translateError(error, options), thrown: error };
  const context = errorContext(acting);
  const failure = { req, error: validationFailure(thrown)?.thrown ?? thrown, context };
  if (known === undefined) return await reporter.answer(failure);
  if (isOutage(known)) await reporter.reportRepeated(failure);
  else if (known.status >= 500) await reporter.report(failure);
  return known;
}

export function errorContext(
  { req, route, level: { target, operation } }: LevelCall,
): ErrorContext {
  return { method: req.method, route: route.path, class: target.name, operation };
}
