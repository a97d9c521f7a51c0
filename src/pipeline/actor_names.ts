import type { Actor } from "../declare/hooks/framework_request.ts";
import { runHook } from "../declare/hooks/run_hook.ts";

export type ActorNames = (ids: readonly Actor[]) => Promise<ReadonlyMap<unknown, string>>;

export async function askNames(
  ask: ActorNames,
  ids: readonly Actor[],
): Promise<ReadonlyMap<string, string>> {
  const named: unknown = await runHook<unknown>("actorNames", () => ask(ids));
  if (!(named instanceof Map)) {
    throw new TypeError("Cannot name the senders of writes: actorNames() returned no Map");
  }
  return new Map(Array.from(named, ([id, name]) => [String(id), String(name)]));
}
