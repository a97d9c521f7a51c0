import { type ActorNames, askNames } from "../../pipeline/actor_names.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { ShownRecord } from "./show_records.ts";

export async function withNames(
  { route, timeBudget }: OpenLevelContext,
  records: readonly ShownRecord[],
): Promise<readonly ShownRecord[]> {
  const ask = route.settings.get("history") as ActorNames | undefined;
  const actors = new Map(
    records.flatMap(({ actor }) => actor === undefined ? [] : [[String(actor), actor] as const]),
  );
  if (ask === undefined || actors.size === 0) return records;
  const names = await timeBudget.wait(askNames(ask, [...actors.values()]));
  return records.map((record) => {
    const actorName = names.get(String(record.actor));
    return actorName === undefined ? record : { ...record, actorName };
  });
}
