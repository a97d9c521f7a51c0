import { unavailable } from "../../errors/refusals.ts";
import { hasUntoldFailures, indexBuilds } from "../../schema/index_builds.ts";
import type { Call, LevelCall } from "./call.ts";

/**
 * Looks at the indexes of all that a request writes: the host is told of builds that failed, and where it requires
 * them, nothing is written before all unique ones stand.
 *
 * @throws {RestError} 503 if one is required and does not stand.
 */
export async function checkIndexes(call: Call): Promise<void> {
  const { operation, indexes } = call.route;
  const writes = operation.change !== undefined && call.acting.level.hooks.persist === undefined;
  if (!writes || (indexes !== "required" && !hasUntoldFailures())) return;
  for (const each of call.levels) {
    if (each.level.part?.embedded !== true) await checkLevel(call, each);
  }
}

async function checkLevel(call: Call, { level, model }: LevelCall): Promise<void> {
  const { route, req, patience } = call;
  const builds = indexBuilds(await model());
  if (builds === undefined) return;
  const error = builds.takeUntold();
  if (error !== undefined) {
    const { target, operation } = level;
    const context = { method: req.method, route: route.path, class: target.name, operation };
    await route.reporter.tell({ req, error, context });
  }
  if (route.indexes !== "required") return;
  if (!await patience.wait(builds.areUniqueStanding())) throw unavailable(builds.failure);
}
