import { setTimeout } from "node:timers";
import { isClosedByHost } from "../../database/failure_of.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { logError, logHint } from "../../errors/log.ts";
import { internal } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { mayBeRefused } from "../../filter/q/operators.ts";
import { namesPath } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { isHiddenPath, isSettable, secrecyOf } from "../../schema/fields/visibility.ts";
import { validationFailure } from "../../schema/mongoose/errors.ts";
import { runOutside } from "../../schema/mongoose/statements/transaction_around.ts";
import {
  isOutage,
  toAnswer,
  translateBulk,
  translateError,
  translateHookFailure,
} from "../failures.ts";
import type { LevelContext } from "./request_context.ts";
import { isOver } from "./reply.ts";

/** The place of an error in the API. `onError` gets this object as its third argument. */
export interface ErrorContext {
  /** The HTTP method of the request, such as `PATCH`. */
  readonly method: string;
  /** The path of the route in the router, such as `/movies/:id`. */
  readonly route: string;
  /** The name of the model class of the last segment of the route, such as `Comment` for `/movies/:id/comments`. */
  readonly class: string;
  /** The name of the operation, such as `updateAll`, or of the action. */
  readonly operation: string;
  /**
   * The number of further requests that failed for the same cause within the last minute. The first report of a cause
   * has no number. Later reports have a number while the database is not available or clients are too slow.
   */
  readonly count?: number;
}

/**
 * The function of the application that gets errors of requests. A `RestError` that the function returns becomes the
 * answer to an unexpected error.
 */
export type OnError<C = ErrorContext> = (
  req: FrameworkRequest,
  error: unknown,
  context: C,
) => unknown;

export interface FailedRequest<C = ErrorContext> {
  readonly req: FrameworkRequest;
  readonly error: unknown;
  readonly context: C;
}

interface Outage<C> {
  last: FailedRequest<C>;
  count: number;
}

const OUTAGE_MS = 60_000;

/**
 * The object that reports the errors of requests to the application. An error is passed to the function `onError`, and
 * is logged unless `onError` returns a `RestError`. All routes of a router share one reporter, so that a failure of the
 * database is reported once and not by each route.
 */
export class Reporter<C extends object = ErrorContext> {
  readonly #onError: OnError<C> | undefined;
  readonly #outageMs: number;
  readonly #outages = new Map<string, Outage<C>>();
  readonly #forgotten = new Set<string>();

  constructor(onError?: OnError<C>, outageMs: number = OUTAGE_MS) {
    this.#onError = onError;
    this.#outageMs = outageMs;
  }

  get hasOnError(): boolean {
    return this.#onError !== undefined;
  }

  /**
   * Passes an error to `onError`. Returns the `RestError` that `onError` returns, which can become the answer.
   * Otherwise logs the error and returns `undefined`.
   */
  async report({ req, error, context }: FailedRequest<C>): Promise<RestError | undefined> {
    try {
      // `onError` may store the error in the database. It is called outside of the transaction of the failed request,
      // because an abort of this transaction would also remove the stored error.
      const given = await runOutside(() => this.#onError?.(req, error, context));
      if (given instanceof RestError) return given;
    } catch (second) {
      logError(second, context);
    }
    logError(error, context);
    return undefined;
  }

  /**
   * Reports an error that many requests meet at a time. The first failure of a cause is reported at once. Further
   * failures are reported once a minute with their number, so that they do not flood the log.
   */
  async reportRepeated(failure: FailedRequest<C>): Promise<void> {
    const cause = causeOf(failure.error);
    const running = this.#outages.get(cause);
    if (running !== undefined) {
      running.last = failure;
      running.count++;
      return;
    }
    this.#watch(cause, failure);
    await this.report(failure);
  }

  reportForgotten(hook: string, { operation, name }: { operation: string; name: string }): void {
    const place = `Hook "${hook}" of ${operation}() of "${name}"`;
    if (this.#forgotten.has(place)) return;
    this.#forgotten.add(place);
    logHint(`${place} gave undefined, which rejects: return a value, or null to reject on purpose`);
  }

  #watch(cause: string, last: FailedRequest<C>): void {
    this.#outages.set(cause, { last, count: 0 });
    setTimeout(() => void this.#endTurn(cause), this.#outageMs).unref();
  }

  async #endTurn(cause: string): Promise<void> {
    const { last, count } = this.#outages.get(cause) as Outage<C>;
    this.#outages.delete(cause);
    if (count === 0) return;
    this.#watch(cause, last);
    await this.report({ ...last, context: { ...last.context, count } });
  }
}

function causeOf(error: unknown): string {
  const { name, code = "" } = Object(error instanceof RestError && error.cause || error);
  return `${name} ${code}`;
}

/**
 * Returns the answer to an error of a request, and reports an error with a 5xx to the application. The answer to an
 * error that the framework does not know is the `RestError` that `onError` returns, or otherwise a 500 without details.
 */
export async function errorAnswer(context: LevelContext, error: unknown): Promise<RestError> {
  return await itemAnswer(context, { error, body: context.req.body });
}

interface FailedItem {
  readonly error: unknown;
  /** The part of the body for the entity that has failed. */
  readonly body: unknown;
}

/** Returns the answer to an error of one entity of a request with several entities, as `errorAnswer()` does. */
export async function itemAnswer(context: LevelContext, item: FailedItem): Promise<RestError> {
  const { req, route: { reporter } } = context;
  const { answer: known, thrown } = translated(context, item);
  const failure = {
    req,
    error: validationFailure(thrown)?.thrown ?? thrown,
    context: errorContext(context),
  };
  if (known === undefined) return await reporter.report(failure) ?? internal(failure.error);
  if (isOutage(known)) {
    // When a server stops, requests end before the application closes the connections. The errors of these requests are
    // not reported, because no client gets the answers.
    if (!isOver(req) || !isClosedByHost(thrown)) await reporter.reportRepeated(failure);
  } else if (known.status >= 500) await reporter.report(failure);
  return known;
}

/**
 * The number of characters of a URL above which its filter may be too large for the database. HTTP servers refuse such
 * a URL in a request of a client. The framework makes such a URL from the body of a `QUERY`, or from the arguments of a
 * tool call of MCP.
 */
const LONG_URL = 1024 ** 2;

/**
 * Returns the answer to an error, but does not report the error. Returns `undefined` if the framework does not know the
 * error, because its details may be secret and the client gets a 500.
 */
export function knownAnswer(context: LevelContext, error: unknown): RestError | undefined {
  return translated(context, { error, body: context.req.body }).answer;
}

function translated(
  context: LevelContext,
  { error, body }: FailedItem,
): { readonly answer: RestError | undefined; readonly thrown: unknown } {
  const { req, route: { levels, operation }, state, level, isAway } = context;
  const { prefix, shape } = storedPlace(context);
  const optionsFor = (sent: unknown) => ({
    // A condition that a hook has added to the filter may be the cause of the error. An error in this condition must
    // not become a 400 for the client.
    filtered: mayBeRefused(state.filter),
    writes: operation.change !== undefined,
    isLong: req.url.length > LONG_URL,
    isHidden: (path: string) => isHiddenPath(path, level.shape),
    isTold: (name: string) => {
      const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
      return secrecyOf(name, shape) !== "secret" ||
        namesPath(sent, own) && isSettable(own, level.shape);
    },
    isSent: (path: string) => namesPath(sent, path),
    targets: levels.map(({ target }) => target),
    ids: Object.values(req.params).map(String),
    away: isAway(),
  });
  if (error instanceof HookFailure) {
    return { answer: translateHookFailure(error, optionsFor(body)), thrown: error.thrown };
  }
  return error instanceof BulkError
    ? translateBulk(error, (index) => optionsFor(Array.isArray(body) ? body[index] : body))
    : { answer: translateError(error, optionsFor(body)), thrown: toAnswer(error) };
}

/** Returns the shape of the stored entity with the entity of a level, and where it is there, such as `comments.`. */
function storedPlace(
  { level: { link, shape }, above }: LevelContext,
): { readonly prefix: string; readonly shape: Shape } {
  if (link?.embedded !== true || above === undefined) return { prefix: "", shape };
  const { prefix, shape: root } = storedPlace(above);
  return { prefix: `${prefix}${link.property}.`, shape: root };
}

export function errorContext(
  { req, route, level: { target, operation } }: LevelContext,
): ErrorContext {
  return { method: req.method, route: route.path, class: target.name, operation };
}
