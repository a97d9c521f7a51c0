import mongoose from "mongoose";
import type { Actor, FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import { type Call, enterLevel } from "./request_context.ts";

/** The option `actor` of `Framework.initialize()`, which returns the sender of a request. */
export type ActorFunction = (req: FrameworkRequest) => Actor | undefined;

/**
 * Asks the application for the sender of a request, and stores the answer as `req.framework.actor` for each segment of
 * the route. The caller must have run the `preFetch` hooks, which may sign the sender in. Throws if the answer is no
 * identifier, because a write must not be recorded under a wrong name.
 */
export function askActor({ route, levels, context, req }: Call): void {
  if (route.actor === undefined) return;
  enterLevel(context);
  const ask = route.actor;
  const actor = runHook<unknown>("actor", () => ask(req));
  if (actor === undefined) return;
  if (isPromise(actor)) Promise.resolve(actor).catch(() => {});
  if (!isActor(actor)) {
    const given = nameOf(actor);
    throw new TypeError(`Cannot use the result of actor(), ${given}: it is no identifier`);
  }
  for (const { state } of levels) Object.assign(state, { actor });
}

function isActor(value: unknown): value is Actor {
  return typeof value === "string" && value !== "" || Number.isFinite(value) ||
    value instanceof mongoose.Types.ObjectId;
}

function nameOf(value: unknown): string {
  return value === "" ? "an empty text" : isPromise(value) ? "a promise" : String(value);
}
