import { takesQ } from "../../declare/operations/operation.ts";
import { badFormat, badParameter, unavailable } from "../../errors/refusals.ts";
import { declaredNames } from "../../filter/parameters/parse_read.ts";
import { queryOf } from "../../filter/parameters/read_rules.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { hasUntoldFailures, indexBuilds } from "../../schema/index_builds.ts";
import type { Call, LevelCall } from "./call.ts";
import { errorContext } from "./reporter.ts";

/** Refuses parameters that nothing declares: of strict routes, and of changes of many, where a misspelled `q` would select all. */
export function checkParameters({ route, req, levels, acting }: Call): void {
  const { operation, parameters } = route;
  const removesMany = operation.many && operation.change === "remove";
  const changesMany = removesMany || operation.many && operation.change === "merge";
  const isStrict = changesMany || parameters === "strict";
  if (!isStrict && operation.change !== "replace") return;
  const known = new Set<string>(levels.flatMap(({ level }) => level.parameters));
  for (const name of declaredNames(acting.level.reads ?? {})) known.add(name);
  if (takesQ(operation)) known.add("q");
  const given = new Set(new URLSearchParams(queryOf(req.url)).keys());
  for (const parameter of given) {
    if (known.has(parameter)) continue;
    // A replacement has no "q": without its condition, it would write what the client wants to spare.
    if (!isStrict && !/^q(\[|$)/.test(parameter)) continue;
    throw badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
  }
  if (acting.level.writes?.needsQ && !given.has("q")) {
    throw badParameter("q", "a filter: {} for all");
  }
  if (removesMany && hasBody(req)) {
    throw badFormat(`A body is not allowed: parameter "q" selects what to remove`);
  }
}

/** An empty object is no body: some clients send it with every request. */
function hasBody({ body, headers }: Call["req"]): boolean {
  if (isJsonObject(body)) return Object.keys(body).length > 0;
  const length = headers["content-length"] ?? "0";
  return body !== undefined || length !== "0" || headers["transfer-encoding"] !== undefined;
}

/** Reports failed builds of indexes; a 503 where the host or a replacement needs a unique index that is missing. */
export async function checkIndexes(call: Call): Promise<void> {
  const { operation, indexes } = call.route;
  const writes = operation.change !== undefined && operation.verb !== "get" &&
    call.acting.level.hooks.persist === undefined;
  const isWorthALook = indexes === "required" || isNamedByKey(call.acting) ||
    call.levels.some(({ level }) => hasUntoldFailures(level.target));
  if (!writes || !isWorthALook) return;
  for (const each of call.levels) {
    if (each.level.link?.embedded !== true) await checkLevel(each);
  }
}

function isNamedByKey({ level: { writes } }: LevelCall): boolean {
  return (writes?.by ?? "_id") !== "_id";
}

async function checkLevel(at: LevelCall): Promise<void> {
  const { model, route, req, timeBudget } = at;
  const builds = indexBuilds(await model());
  if (builds === undefined) return;
  const error = builds.takeUntold();
  if (error !== undefined) {
    await route.reporter.report({ req, error, context: errorContext(at) });
  }
  if (route.indexes !== "required" && !isNamedByKey(at)) return;
  if (!await timeBudget.wait(builds.areUniqueStanding())) throw unavailable(builds.failure);
}
