import mongoose from "mongoose";
import type { Actor, FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import { forbidden } from "../../errors/refusals.ts";
import { type Call, enterLevel } from "./request_context.ts";

export type ActorFunction = (req: FrameworkRequest) => Actor | undefined;

/** The key is the client's request. A request of a batch with another sender gets a 403. */
const actors = new WeakMap<object, Actor>();

/**
 * Runs after the `preFetch` hooks, which may sign the sender in, or else writes would be recorded under a wrong sender.
 */
export function askActor(call: Call): void {
  const { route, levels, context, req, origin } = call;
  const ask = route.actor;
  if (ask === undefined) return;
  enterLevel(context);
  const before = actors.get(origin);
  const actor = actorBy(ask, req) ?? before;
  if (actor === undefined) return;
  if (before !== undefined && String(before) !== String(actor)) throw forbidden();
  if (origin !== req) actors.set(origin, actor);
  for (const { state } of levels) Object.assign(state, { actor });
}

export function actorBy(ask: ActorFunction, req: FrameworkRequest): Actor | undefined {
  const actor = runHook<unknown>("actor", () => ask(req));
  if (isPromise(actor)) Promise.resolve(actor).catch(() => {});
  if (actor === undefined || isActor(actor)) return actor;
  const given = nameOf(actor);
  throw new TypeError(`Cannot use the result of actor(), ${given}: it is no identifier`);
}

function isActor(value: unknown): value is Actor {
  return typeof value === "string" && value !== "" || Number.isFinite(value) ||
    value instanceof mongoose.Types.ObjectId;
}

function nameOf(value: unknown): string {
  return value === "" ? "an empty text" : isPromise(value) ? "a promise" : String(value);
}
