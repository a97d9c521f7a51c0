import type { FrameworkRequest, FrameworkState } from "../declare/hooks/framework_request.ts";
import type { PreFetch } from "../declare/hooks/hooks.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { forbidden } from "../errors/refusals.ts";
import { parameterKeys, queryOf } from "../filter/query_string.ts";
import { type Call, enterLevel } from "./request/request_context.ts";
import type { Level } from "./request/route.ts";

export async function passGuard(
  { route: { guard }, context, req }: Pick<Call, "route" | "context" | "req">,
): Promise<void> {
  if (guard === undefined || isOpen(context.level, req)) return;
  enterLevel(context);
  await runGuard(guard, req);
  // The guard may have replaced `req.framework`, whose values must not be lost.
  Object.assign(context.state, req.framework);
}

function isOpen({ isOpen, guardedParameters = [] }: Level, { url }: FrameworkRequest): boolean {
  return isOpen &&
    !guardedParameters.some((each) =>
      parameterKeys(new URLSearchParams(queryOf(url)), each).length > 0
    );
}

export async function passGuardOf(
  guard: PreFetch | undefined,
  { req, operation, weight }: {
    readonly req: FrameworkRequest;
    readonly operation: string;
    readonly weight: number;
  },
): Promise<void> {
  if (guard === undefined) return;
  const none = () => Promise.reject(new TypeError(`${operation} has no model`));
  const state: FrameworkState = {
    filter: {},
    options: {},
    projection: {},
    operation,
    weight,
    model: none,
    count: none,
  };
  req.framework = state;
  await runGuard(guard, req);
}

async function runGuard(guard: PreFetch, req: FrameworkRequest): Promise<void> {
  const given: unknown = await runHook("preFetch", () => guard(req));
  if (given !== true) throw forbidden();
}
