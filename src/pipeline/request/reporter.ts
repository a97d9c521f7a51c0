import { clearTimeout, setTimeout } from "node:timers";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import type { ErrorContext } from "./error_context.ts";
import { logError, logHint } from "../../errors/log.ts";
import { internal } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";

/** The host's own look at an error. */
export type OnError<C = ErrorContext> = (
  req: FrameworkRequest,
  error: unknown,
  context: C,
) => unknown;

/** One failed request. */
export interface Failure<C = ErrorContext> {
  /** The request. */
  readonly req: FrameworkRequest;
  /** What went wrong. */
  readonly error: unknown;
  /** Where. */
  readonly context: C;
}

/** Failures of one cause while the database is away. */
interface Outage<C> {
  last: Failure<C>;
  count: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** How often one cause of an outage is told. */
const OUTAGE_MS = 60_000;

/** Tells the host what went wrong: `onError` first, else the log. One serves all routes of a router. */
export class Reporter<C extends object = ErrorContext> {
  readonly #onError: OnError<C> | undefined;
  readonly #outageMs: number;
  readonly #outages = new Map<string, Outage<C>>();
  readonly #forgotten = new Set<string>();

  /**
   * @param onError The host's own look at an error.
   * @param outageMs How often one cause of an outage is told, in milliseconds.
   */
  constructor(onError?: OnError<C>, outageMs: number = OUTAGE_MS) {
    this.#onError = onError;
    this.#outageMs = outageMs;
  }

  /** Tells of an error, and gives the answer: the one of `onError`, or a 500 that tells nothing. */
  async ask(failure: Failure<C>): Promise<RestError> {
    return await this.tell(failure) ?? internal(failure.error);
  }

  /** Tells of an error; gives what `onError` would answer. */
  async tell({ req, error, context }: Failure<C>): Promise<RestError | undefined> {
    try {
      const given = await this.#onError?.(req, error, context);
      if (given instanceof RestError) return given;
    } catch (second) {
      logError(second, context);
    }
    logError(error, context);
    return undefined;
  }

  /** Tells that the database is away: the first failure of a cause at once, then once a minute how many more. */
  async tellOutage(failure: Failure<C>): Promise<void> {
    const cause = causeOf(failure.error);
    const running = this.#outages.get(cause);
    if (running !== undefined) {
      running.last = failure;
      running.count++;
      return;
    }
    this.#watch(cause, failure);
    await this.tell(failure);
  }

  /** Tells, once, that a hook gave nothing where something was due. */
  tellForgotten(hook: string, { operation, name }: { operation: string; name: string }): void {
    const place = `Hook "${hook}" of ${operation}() of "${name}"`;
    if (this.#forgotten.has(place)) return;
    this.#forgotten.add(place);
    logHint(`${place} gave undefined, which rejects: return a value, or null to reject on purpose`);
  }

  #watch(cause: string, last: Failure<C>): void {
    const timer = setTimeout(() => void this.#endTurn(cause), this.#outageMs);
    timer.unref();
    clearTimeout(this.#outages.get(cause)?.timer);
    this.#outages.set(cause, { last, count: 0, timer });
  }

  async #endTurn(cause: string): Promise<void> {
    const { last, count } = this.#outages.get(cause) as Outage<C>;
    this.#outages.delete(cause);
    if (count === 0) return;
    this.#watch(cause, last);
    await this.tell({ ...last, context: { ...last.context, count } });
  }
}

/** What tells the causes of outages apart: the class and code of the error behind them. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const { name, code } = (error instanceof RestError && cause || error) as {
    name?: unknown;
    code?: unknown;
  };
  return `${name} ${code ?? ""}`;
}
