import { setTimeout } from "node:timers";
import { isClosedByHost } from "../../store/failure_of.ts";
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
import { isOver } from "./response.ts";

/** The third argument of `onError`: the place of an error in the API. */
export interface ErrorContext {
  /** The HTTP method. */
  readonly method: string;
  /** The path of the route in the router. */
  readonly route: string;
  /** The name of the last model class in the route. */
  readonly class: string;
  /** The name of the operation or of the action. */
  readonly operation: string;
  /** The number of further requests with the same cause within the last minute. Missing in the first report. */
  readonly count?: number;
}

/** A returned `RestError` becomes the answer to an unexpected error. */
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

/** Shared by all routes, so that a failure of the database is reported once. */
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

  async report({ req, error, context }: FailedRequest<C>): Promise<RestError | undefined> {
    try {
      // `onError` may store the error, which an abort of the failed transaction would remove.
      const given = await runOutside(() => this.#onError?.(req, error, context));
      if (given instanceof RestError) return given;
    } catch (second) {
      logError(second, context);
    }
    logError(error, context);
    return undefined;
  }

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

export async function errorAnswer(context: LevelContext, error: unknown): Promise<RestError> {
  return await itemAnswer(context, { error, body: context.req.body });
}

interface FailedItem {
  readonly error: unknown;
  readonly body: unknown;
}

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
    // A stopping server ends requests before their connections close. Nobody gets these answers, so nothing is
    // reported.
    if (!isOver(req) || !isClosedByHost(thrown)) await reporter.reportRepeated(failure);
  } else if (known.status >= 500) await reporter.report(failure);
  return known;
}

/**
 * In characters. Only a `QUERY` or a tool call can make a longer URL. A statement that is too large for MongoDB is then
 * the client's fault.
 */
const LONG_URL = 1024 ** 2;

/** Unlike `errorAnswer()`, this neither logs the error nor calls `onError`. */
export function translatedAnswer(context: LevelContext, error: unknown): RestError | undefined {
  return translated(context, { error, body: context.req.body }).answer;
}

function translated(
  context: LevelContext,
  { error, body }: FailedItem,
): { readonly answer: RestError | undefined; readonly thrown: unknown } {
  const { req, route: { levels, operation }, state, level, isAway } = context;
  const { prefix, shape } = storedPlace(context);
  const optionsFor = (sent: unknown) => ({
    // If MongoDB refuses the filter, only `q` leads to a 400. A condition of a hook is a mistake of the application.
    filtered: mayBeRefused(state.filter),
    writes: operation.change !== undefined,
    isLong: req.url.length > LONG_URL,
    isHidden: (path: string) => isHiddenPath(path, level.shape),
    isShown: (name: string) => {
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

/** `prefix` is the path of the entity in its document. */
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
