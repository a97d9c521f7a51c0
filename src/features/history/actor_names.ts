import type { Actor } from "../../declare/hooks/framework_request.ts";
import { runHook } from "../../declare/hooks/run_hook.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { ShownRecord } from "./show_records.ts";

/** The option `actorNames` of `Framework.initialize()`. */
type ActorNames = (ids: readonly Actor[]) => Promise<ReadonlyMap<unknown, string>>;

/** Adds the names of senders to the records that show a sender. The application is asked once for all of them. */
export async function withNames(
  { route, timeBudget }: OpenLevelContext,
  records: readonly ShownRecord[],
): Promise<readonly ShownRecord[]> {
  const ask = route.settings.get("history") as ActorNames | undefined;
  const actors = new Map(
    records.flatMap(({ actor }) => actor === undefined ? [] : [[String(actor), actor] as const]),
  );
  if (ask === undefined || actors.size === 0) return records;
  const named: unknown = await timeBudget.wait(
    Promise.resolve(runHook<unknown>("actorNames", () => ask([...actors.values()]))),
  );
  if (!(named instanceof Map)) {
    throw new TypeError("Cannot name the senders of a history: actorNames() returned no Map");
  }
  const names = new Map(Array.from(named, ([id, name]) => [String(id), String(name)]));
  return records.map((record) => {
    const actorName = names.get(String(record.actor));
    return actorName === undefined ? record : { ...record, actorName };
  });
}
