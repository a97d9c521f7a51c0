import type { HookName } from "./hooks.ts";
import { RestError } from "../../errors/rest_error.ts";

/** The functions of the host that run for a request. */
export type HostFunction = HookName | "scope" | "getConnection";

/** What a function of the host threw. It is the host's own error, whatever its class. */
export class HookFailure extends Error {
  /** The function. */
  readonly hook: HostFunction;
  /** What it threw. */
  readonly thrown: unknown;
  /** The entity that it worked on, if any. */
  readonly entity: object | undefined;
  /** Whether it waited for a connection that is not open. */
  readonly away: boolean;

  /**
   * @param hook The function.
   * @param thrown What it threw.
   * @param options What is known of its work.
   */
  constructor(
    hook: HostFunction,
    thrown: unknown,
    { entity, away = false }: { readonly entity?: object; readonly away?: boolean } = {},
  ) {
    super(`The hook "${hook}" failed`);
    this.hook = hook;
    this.thrown = thrown;
    this.entity = entity;
    this.away = away;
  }
}

/** Gives what to throw for what a function of the host threw: only a `RestError` speaks to the client. */
export function hookFailure(...args: ConstructorParameters<typeof HookFailure>): Error {
  const [, thrown] = args;
  return thrown instanceof RestError || thrown instanceof HookFailure
    ? thrown
    : new HookFailure(...args);
}
