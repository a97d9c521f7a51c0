import type { Request } from "express-types";
import { takesQ } from "../../declare/operations/operation.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { badFormat, badParameter } from "../../errors/refusals.ts";
import { queryOf } from "../../filter/query_string.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { hasUnreportedFailures, indexBuilds, type UniqueIndex } from "../../schema/index_builds.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import {
  runOutside,
  transactionAround,
} from "../../schema/mongoose/statements/transaction_around.ts";
import type { Call, LevelContext } from "./request_context.ts";
import type { Route } from "./route.ts";
import { errorContext } from "./reporter.ts";

/** A misspelled `q` would change all entities, so changes of many are checked even without `strict`. */
export function checkParameters({ route, req, levels, context }: Call): void {
  const { operation, strict } = route;
  const removesMany = operation.many && operation.change === "remove";
  const changesMany = removesMany || operation.many && operation.change === "merge";
  const isStrict = changesMany || strict.parameters;
  if (!isStrict && operation.change !== "replace") return;
  const allowed = new Set<string>(levels.flatMap(({ level }) => level.parameters));
  for (const name of Object.keys(context.level.options.description.parameters)) allowed.add(name);
  if (takesQ(operation)) allowed.add("q");
  const given = parametersIn(req);
  // A PUT applies no filter, but a client that sends `q` expects a condition.
  refuseUndeclared(isStrict ? given : given.filter((name) => /^q(\[|$)/.test(name)), allowed);
  if (context.level.writes?.needsQ && !given.includes("q")) {
    throw badParameter("q", "a filter: {} for all");
  }
  if (removesMany && hasBody(req)) {
    throw badFormat(`A body is not allowed: parameter "q" selects what to remove`);
  }
}

function parametersIn({ url }: Pick<Request, "url">): string[] {
  return [...new Set(new URLSearchParams(queryOf(url)).keys())];
}

function refuseUndeclared(given: readonly string[], allowed: ReadonlySet<string>): void {
  const parameter = given.find((name) => !allowed.has(name));
  if (parameter === undefined) return;
  throw badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
}

export function checkEndpointParameters(
  req: Pick<Request, "url">,
  { strict, plugins }: Pick<Route, "strict" | "plugins">,
): void {
  if (strict.parameters) {
    refuseUndeclared(parametersIn(req), new Set(Object.keys(plugins.parameters)));
  }
}

/** An empty object is no body, because some HTTP clients send one with every request. */
function hasBody({ body, headers }: Call["req"]): boolean {
  if (isJsonObject(body)) return Object.keys(body).length > 0;
  const length = headers["content-length"] ?? "0";
  return body !== undefined || length !== "0" || headers["transfer-encoding"] !== undefined;
}

export async function checkIndexes(call: Call): Promise<void> {
  const { operation, indexes } = call.route;
  const writes = operation.change !== undefined && operation.verb !== "get" &&
    call.context.level.hooks.persist === undefined;
  const isWorthALook = indexes !== "lazy" || isNamedByKey(call.context) ||
    call.levels.some(({ level }) => hasUnreportedFailures(level.target));
  if (!writes || !isWorthALook) return;
  for (const [index, each] of call.levels.entries()) {
    if (each.level.link?.embedded === true) continue;
    const below = call.levels[index + 1]?.level.link;
    const need = () => below === undefined ? neededBy(call) : needsAny([below.property]);
    await checkLevel(each, need);
  }
}

/** Hooks and actions may set fields that are not in the body, so their indexes are checked too. */
export async function checkChangedIndexes(
  context: LevelContext,
  entities: readonly unknown[],
): Promise<void> {
  if (context.route.indexes !== undefined || context.level.link?.embedded === true) return;
  const stored = entities.filter((each) => isDocument(each)).filter(({ isNew }) => !isNew);
  // In a batch that was undone, the write is refused anyway.
  if (stored.length === 0 || transactionAround()?.state === "undone") return;
  const changed = () => stored.flatMap((each) => each.modifiedPaths());
  await checkLevel(context, () => needsAny(changed()));
}

type Need = (index: UniqueIndex) => boolean;

function needsAny(names: readonly string[]): Need {
  return ({ fields }) => fields.some((name) => names.includes(name));
}

/** A new entity also needs indexes of fields that its body leaves out, unless they are sparse or partial without it. */
function neededBy(
  { req: { body }, route: { operation: { change, origin } }, context }: Call,
): Need {
  // A route of a class option, such as a restore, can bring back any unique value, so it needs all indexes.
  if (context.level.perform !== undefined) return () => true;
  if (change !== "merge" && change !== "replace") return () => false;
  const isNew = origin === "new" || origin === "byKey";
  const { hooks, shape: { fields } } = context.level;
  // A hook may set any field of a new entity.
  const isHooked = (hooks.fetch ?? hooks.postFetch ?? hooks.preSave) !== undefined;
  if (!isJsonObject(body) || isNew && isHooked) return () => true;
  const isNamed = needsAny(Object.keys(body).filter((name) => fields.get(name)?.writable === true));
  const isMade = needsAny(
    [...fields].filter(([, { type }]) => type?.options.default !== undefined).map(([name]) => name),
  );
  return (index) => isNew && (index.isOfAll || isMade(index)) || isNamed(index);
}

function isNamedByKey({ level: { writes } }: LevelContext): boolean {
  return (writes?.by ?? "_id") !== "_id";
}

async function checkLevel(context: LevelContext, need: () => Need): Promise<void> {
  const { model, route, req, timeBudget } = context;
  const builds = indexBuilds(await model());
  if (builds === undefined) return;
  const error = builds.takeUnreported();
  if (error !== undefined) {
    await route.reporter.report({ req, error, context: errorContext(context) });
  }
  const needsAll = route.indexes === "required" || isNamedByKey(context);
  if (!needsAll && (route.indexes === "lazy" || builds.areBuilt)) return;
  // MongoDB neither lists nor builds indexes in a transaction.
  const standing = runOutside(() =>
    needsAll ? builds.areUniqueStanding() : builds.isStandingFor(need())
  );
  if (!await timeBudget.wait(standing)) {
    throw new StoreFailure({ kind: "away", reason: "outage" }, builds.failure);
  }
}
