import { andThen, runHook } from "../declare/hooks/run_hook.ts";
import type { EntityHook, HookName, MaybePromise } from "../declare/hooks/hooks.ts";
import { forbidden } from "../errors/refusals.ts";
import "../sources/entity_fields.ts";
import { checkHookValues } from "./hook_values.ts";
import { isOver } from "./request/response.ts";
import { errorContext } from "./request/reporter.ts";
import { type Call, enterLevel, type LevelContext } from "./request/request_context.ts";

/** Any result of a `preFetch` hook but `true` is refused, so that a forgotten `return` admits nobody. */
export async function passPreFetch({ levels, req }: Pick<Call, "levels" | "req">): Promise<void> {
  for (const context of levels) {
    const { preFetch } = context.level.hooks;
    enterLevel(context);
    if (preFetch !== undefined) {
      const given: unknown = await runHook("preFetch", () => preFetch(req));
      if (given === undefined) reportForgotten(context, "preFetch");
      if (given !== true) throw forbidden();
    }
    // A hook may have replaced `req.framework`, whose values must not be lost.
    Object.assign(context.state, req.framework);
  }
}

export type EntityHookName = Exclude<HookName, "preFetch" | "fetch">;

export interface HookArguments {
  readonly entity: object;
  readonly previous?: object | undefined;
}

/** The result `null` or `false` of a hook rejects the entity. `undefined` throws, because a `return` is missing. */
export function passHook(
  context: LevelContext,
  name: EntityHookName,
  { entity, previous }: HookArguments,
): MaybePromise<object | undefined> {
  return runEntityHook(context, name, {
    entity,
    previous,
    forgot: (error) => {
      throw error;
    },
  });
}

/** An error after a write would make the client repeat it, so a forgotten `return` only rejects the entity. */
export function passHookAfterWrite(
  context: LevelContext,
  name: EntityHookName,
  { entity, previous }: HookArguments,
): MaybePromise<object | undefined> {
  const { req, route: { reporter } } = context;
  const forgot = async (error: TypeError) => {
    if (reportedRequests.has(req)) return undefined;
    reportedRequests.add(req);
    await reporter.report({ req, error, context: errorContext(context) });
    return undefined;
  };
  return runEntityHook(context, name, { entity, previous, forgot });
}

const reportedRequests = new WeakSet<object>();

function runEntityHook(
  context: LevelContext,
  name: EntityHookName,
  { entity, previous, forgot }: HookArguments & {
    readonly forgot: (error: TypeError) => MaybePromise<undefined>;
  },
): MaybePromise<object | undefined> {
  const { level: { hooks: { [name]: given }, operation, target }, req } = context;
  const hook: EntityHook<object> | undefined = given;
  if (hook === undefined) return entity;
  const run = () => previous === undefined ? hook(req, entity) : hook(req, entity, previous);
  return andThen(runHook<unknown>(name, run), (result) => {
    if (result === undefined && !isOver(req)) {
      const place = `the hook "${name}" of ${operation}() of "${target.name}"`;
      return forgot(
        new TypeError(
          `Cannot use the result of ${place}: it is undefined: return the entity, or null`,
        ),
      );
    }
    if (typeof result !== "object" || result === null) return undefined;
    checkHookValues(context, { hook: name, entity: result });
    return result;
  });
}

export function reportForgotten({ route, level }: LevelContext, hook: HookName): void {
  const { operation, target } = level;
  route.reporter.reportForgotten(hook, { operation, name: target.name });
}
