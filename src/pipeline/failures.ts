import {
  failureOf,
  failureOfHook,
  type FailureOptions,
  isLate,
  isOfClient,
} from "../store/failure_of.ts";
import type { HookFailure } from "../declare/hooks/run_hook.ts";
import type { BulkError } from "../errors/bulk_error.ts";
import { type Failure, isFailure, StoreFailure } from "../errors/failure.ts";
import {
  badData,
  badParameter,
  type ErrorCode,
  LOCKED,
  preconditionFailed,
  type Problems,
  Refusal,
  refusal,
} from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { isForeign, validationFailure } from "../schema/mongoose/errors.ts";
import type { LevelContext } from "./request/request_context.ts";

const CHANGED = "The entity was changed by someone else";

const SPLIT = "send less in one request";

/** A hidden entity is `missed` too, so that clients cannot tell it from a missing one. */
const ANSWERS = {
  missed: ["NOT_FOUND", "No such entity"],
  changed: ["CONFLICT", CHANGED],
  occupied: ["CONFLICT", "There is one already, or its parent was changed by someone else"],
  duplicate: ["CONFLICT", "Another entity has the same value"],
  outOfScope: ["FORBIDDEN", "The entity would be out of reach"],
  badFilter: ["BAD_FORMAT", "The database refused the filter"],
  severalDatabases: [
    "BAD_FORMAT",
    "The requests use several databases, which cannot share a transaction",
  ],
  largeFilter: ["BAD_FORMAT", "The filter is larger than the database takes"],
  largeEntity: ["PAYLOAD_TOO_LARGE", "The entity would be larger than the database can store"],
  largeTransaction: ["PAYLOAD_TOO_LARGE", `This is too much for one transaction: ${SPLIT}`],
  outage: ["UNAVAILABLE", "The database is not available"],
  late: [
    "UNAVAILABLE",
    `The database is not available, or this takes too long for one transaction: ${SPLIT}`,
  ],
  locked: ["UNAVAILABLE", "The data is locked by another write: repeat the request later"],
  feeds: ["UNAVAILABLE", "Too many collections are live"],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export function answerTo(
  failure: Failure,
  { cause, isShown = () => true }: {
    readonly cause?: unknown;
    readonly isShown?: (name: string) => boolean;
  } = {},
): RestError {
  const answer = (name: keyof typeof ANSWERS, details: object = {}, headers = {}) => {
    const [code, message] = ANSWERS[name];
    return refusal(code, { message, ...details }, { cause, failure, headers });
  };
  switch (failure.kind) {
    case "invalid":
      return badData(failure.problems, cause);
    case "byDistance":
      return badParameter(failure.parameter, "no conditions by distance beside it");
    case "tooMany": {
      const { limit } = failure;
      return refusal("CONFLICT", { message: `More than ${limit} entities are selected`, limit });
    }
    case "duplicate": {
      const fields = failure.fields.filter(isShown);
      return answer(failure.kind, fields.length > 0 ? { fields } : {});
    }
    case "away":
      return answer(
        failure.reason,
        failure.reason === "locked" ? LOCKED : {},
        retryLater(failure.pauseMS),
      );
    default:
      return answer(failure.kind);
  }
}

const RETRY_AFTER_SECONDS = 5;

/** An overloaded MongoDB may ask for a very long pause, and clients would stay away after it has recovered. */
const MAX_RETRY_AFTER_SECONDS = 60;

function retryLater(pauseMS = 0): { readonly "Retry-After": string } {
  const seconds = Math.min(Math.ceil(pauseMS / 1000), MAX_RETRY_AFTER_SECONDS);
  return { "Retry-After": `${Math.max(RETRY_AFTER_SECONDS, seconds)}` };
}

export function overloaded(message: string): RestError {
  const failure = { kind: "away", reason: "outage" } as const;
  return refusal("UNAVAILABLE", { message }, { headers: retryLater(), failure });
}

/** Has no `Failure`, or else the write would be repeated, and compare the same versions again. */
export function staleVersion(): RestError {
  return refusal("CONFLICT", { message: CHANGED });
}

export function isOutage(answer: RestError | undefined): boolean {
  return answer instanceof Refusal && answer.failure?.kind === "away";
}

export function isLost(error: unknown): boolean {
  return isFailure(error, "changed", "occupied") || isLate(error);
}

/** If the version in `If-Match` has changed, the statement matches no entity, which is a 412. */
export async function bindToVersion<T>(
  { match }: LevelContext,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw match !== undefined && isLost(error) ? preconditionFailed(undefined, error) : error;
  }
}

/** Functions of the application get the error that a client would get, instead of a `StoreFailure`. */
export function toAnswer(error: unknown): unknown {
  if (!(error instanceof StoreFailure)) return error;
  return answerTo(error.failure, { cause: error.cause });
}

export interface TranslateOptions extends FailureOptions {
  readonly isShown?: (name: string) => boolean;
}

/** `undefined` means a 500 without details. */
export function translateError(error: unknown, options: TranslateOptions): RestError | undefined {
  const { targets, isHidden, isShown = (name) => !isHidden(name) } = options;
  const own = toAnswer(error);
  if (own instanceof RestError) return own;
  const isOther = targets !== undefined && isForeign(error, targets);
  const cause = isOther ? error : validationFailure(error)?.thrown ?? error;
  if (cause instanceof RestError) return cause;
  const failure = failureOf(error, options);
  return failure && answerTo(failure, { cause, isShown });
}

/**
 * Problems with the data become one 400, under paths such as `2.name`. Any other error becomes the answer by itself.
 */
export function translateBulk(
  bulk: BulkError,
  optionsFor: (index: number) => TranslateOptions,
): { readonly answer: RestError | undefined; readonly thrown: unknown } {
  const problems: Problems = {};
  for (const [index, error] of bulk.errors) {
    const thrown = toAnswer(error);
    const answer = translateError(thrown, optionsFor(index));
    if (!(answer instanceof Refusal) || answer.status >= 500) return { answer, thrown };
    const { errors } = answer.body as { readonly errors?: Problems };
    if (errors === undefined) {
      const body = { ...answer.body, index };
      return { answer: new Refusal(answer.status, body, { cause: thrown }), thrown };
    }
    const entries = Object.entries(errors);
    for (const [path, problem] of entries) problems[`${index}.${path}`] = problem;
    if (entries.length === 0) problems[index] = { message: answer.message, kind: "data" };
  }
  return { answer: badData(problems, bulk), thrown: bulk };
}

export function translateHookFailure(
  hookFailure: HookFailure,
  options: TranslateOptions,
): RestError | undefined {
  const { thrown } = hookFailure;
  if (thrown instanceof RestError) return thrown;
  const failure = failureOfHook(hookFailure, options.ids);
  if (failure !== undefined) return answerTo(failure, { cause: thrown });
  return isOfClient(hookFailure, options) ? translateError(thrown, options) : undefined;
}
