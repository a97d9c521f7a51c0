import { takesQ } from "../../declare/operations/operation.ts";
import { badFormat, badParameter, unavailable } from "../../errors/refusals.ts";
import { queryOf } from "../../filter/query_string.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { hasUntoldFailures, indexBuilds, type UniqueIndex } from "../../schema/index_builds.ts";
import type { Call, LevelContext } from "./request_context.ts";
import { errorContext } from "./reporter.ts";

/**
 * Throws a 400 for a parameter that no option of the route declares. The check is for routes whose option `parameters`
 * is `"strict"`, and for changes of many entities, where a misspelled `q` would select all of them.
 */
export function checkParameters({ route, req, levels, context }: Call): void {
  const { operation, parameters } = route;
  const removesMany = operation.many && operation.change === "remove";
  const changesMany = removesMany || operation.many && operation.change === "merge";
  const isStrict = changesMany || parameters === "strict";
  if (!isStrict && operation.change !== "replace") return;
  const known = new Set<string>(levels.flatMap(({ level }) => level.parameters));
  for (const name of Object.keys(context.level.options.description.parameters)) known.add(name);
  if (takesQ(operation)) known.add("q");
  const given = new Set(new URLSearchParams(queryOf(req.url)).keys());
  for (const parameter of given) {
    if (known.has(parameter)) continue;
    // A replacement has no `q`. Without this check, the replacement would write an entity that the condition excludes.
    if (!isStrict && !/^q(\[|$)/.test(parameter)) continue;
    throw badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
  }
  if (context.level.writes?.needsQ && !given.has("q")) {
    throw badParameter("q", "a filter: {} for all");
  }
  if (removesMany && hasBody(req)) {
    throw badFormat(`A body is not allowed: parameter "q" selects what to remove`);
  }
}

/**
 * Whether a request has a body. An empty object counts as no body, because some clients send an empty object with every
 * request.
 */
function hasBody({ body, headers }: Call["req"]): boolean {
  if (isJsonObject(body)) return Object.keys(body).length > 0;
  const length = headers["content-length"] ?? "0";
  return body !== undefined || length !== "0" || headers["transfer-encoding"] !== undefined;
}

/**
 * Reports failed builds of indexes. Throws a 503 if a write needs a unique index that is not built, because the write
 * could store a duplicate.
 */
export async function checkIndexes(call: Call): Promise<void> {
  const { operation, indexes } = call.route;
  const writes = operation.change !== undefined && operation.verb !== "get" &&
    call.context.level.hooks.persist === undefined;
  const isWorthALook = indexes !== "lazy" || isNamedByKey(call.context) ||
    call.levels.some(({ level }) => hasUntoldFailures(level.target));
  if (!writes || !isWorthALook) return;
  for (const [index, each] of call.levels.entries()) {
    if (each.level.link?.embedded === true) continue;
    const below = call.levels[index + 1]?.level.link;
    await checkLevel(each, below === undefined ? neededBy(call) : needsAny([below.property]));
  }
}

type Need = (index: UniqueIndex) => boolean;

function needsAny(names: readonly string[]): Need {
  return ({ fields }) => fields.some((name) => names.includes(name));
}

/**
 * Returns a function that decides whether the write of a request may violate a unique index, so that the write has to
 * wait for this index. A new entity without the field of the index is in the index too, unless the index is sparse or
 * partial.
 */
function neededBy(
  { req: { body }, route: { operation: { change, origin } }, context }: Call,
): Need {
  if (change !== "merge" && change !== "replace") return () => false;
  const isNew = origin === "new" || origin === "byKey";
  // A `preSave` hook may set fields that the body leaves out, so every index is needed.
  if (!isJsonObject(body) || isNew && context.level.hooks.preSave !== undefined) return () => true;
  // A strict body with a field that the caller cannot set is refused, whether the index of the field is built or not.
  const { fields } = context.level.shape;
  const isNamed = needsAny(Object.keys(body).filter((name) => fields.get(name)?.writable === true));
  return (index) => isNew && index.isOfAll || isNamed(index);
}

function isNamedByKey({ level: { writes } }: LevelContext): boolean {
  return (writes?.by ?? "_id") !== "_id";
}

async function checkLevel(context: LevelContext, isNeeded: Need): Promise<void> {
  const { model, route, req, timeBudget } = context;
  const builds = indexBuilds(await model());
  if (builds === undefined) return;
  const error = builds.takeUntold();
  if (error !== undefined) {
    await route.reporter.report({ req, error, context: errorContext(context) });
  }
  const needsAll = route.indexes === "required" || isNamedByKey(context);
  if (!needsAll && route.indexes === "lazy") return;
  const standing = needsAll ? builds.areUniqueStanding() : builds.isStandingFor(isNeeded);
  if (!await timeBudget.wait(standing)) throw unavailable(builds.failure);
}
