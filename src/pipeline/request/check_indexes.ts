import { unavailable } from "../../errors/refusals.ts";
import { hasUntoldFailures, indexBuilds } from "../../schema/index_builds.ts";
import type { Call, LevelCall } from "./call.ts";

/**
 * Reports failed builds of the indexes of all that a request writes.
 *
 * @throws {RestError} 503 if the host requires unique indexes, and one is missing.
 */
export async function checkIndexes(call: Call): Promise<void> {
  const { operation, indexes } = call.route;
  const writes = operation.change !== undefined && call.acting.level.hooks.persist === undefined;
  const isWorthALook = indexes === "required" ||
    call.levels.some(({ level }) => hasUntoldFailures(level.target));
  if (!writes || !isWorthALook) return;
  for (const each of call.levels) {
    if (each.level.link?.embedded !== true) await checkLevel(each);
  }
}

async function checkLevel({ level, model, route, req, timeBudget }: LevelCall): Promise<void> {
  const builds = indexBuilds(await model());
  if (builds === undefined) return;
  const error = builds.takeUntold();
  if (error !== undefined) {
    const { target, operation } = level;
    const context = { method: req.method, route: route.path, class: target.name, operation };
    await route.reporter.report({ req, error, context });
  }
  if (route.indexes !== "required") return;
  if (!await timeBudget.wait(builds.areUniqueStanding())) throw unavailable(builds.failure);
}
