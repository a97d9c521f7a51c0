import { runHook } from "../declare/hooks/run_hook.ts";
import { checkFilter } from "../filter/check_filter.ts";
import { everyFilter, type Filter, isEmpty, markConditions } from "../filter/filters.ts";
import { totalOrder } from "../filter/order.ts";
import { readProjection } from "../filter/projection.ts";
import { checkLimit, readSort, type Selection } from "../filter/selection.ts";
import { embeddedModel } from "../schema/get_model.ts";
import {
  CollectionSource,
  type CollectionSourceOptions,
} from "../sources/collection/collection_source.ts";
import { nameOf } from "../sources/entities.ts";
import { ElementSource } from "../sources/parts/element_source.ts";
import { conditionsOf, type PartPath } from "../sources/parts/part_path.ts";
import { openReferences } from "../sources/parts/reference_source.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import type { Source } from "../sources/source.ts";
import { unchangedSeen } from "../write/update_conditions.ts";
import { fetchOne } from "./fetch.ts";
import { followReferences } from "./follow_references.ts";
import { enterLevel, idParam, parseFeatures, requestView } from "./request/request_context.ts";
import type { LevelContext, OpenLevelContext } from "./request/request_context.ts";
import { narrowToReader } from "./request/reader_rights.ts";
import { joinPieces } from "./pieces.ts";
import { operationAt } from "./request/route.ts";
import { readVersion, versionCondition } from "./request/versions.ts";

/**
 * Opens the source of the entities of one level, which is a segment of the route, such as `/movies/:id` and `/comments`
 * below it. The entities of the levels above are read first as the reader of the request may see them, so that a hidden
 * parent also hides its parts.
 */
export async function openLevel(context: LevelContext): Promise<OpenLevelContext> {
  const source = context.above === undefined
    ? new CollectionSource(await settingsFor(context))
    : await openBelow(await openLevel(context.above), context);
  context.cache.source = source;
  return Object.assign(context, { source });
}

/**
 * Runs the phase `prepare` of the features of a request, such as the population of references, and adds the pieces of
 * the query and of the answer that the phase returns.
 */
export async function preparePieces(context: OpenLevelContext): Promise<OpenLevelContext> {
  for (const { feature, params } of context.active) {
    const more = await feature.prepare?.(params, context);
    if (more !== undefined) context.pieces = joinPieces([context.pieces, more]);
  }
  return context;
}

/**
 * Counts the entities that a request selects, for hooks that call `req.framework.count()`. A hook such as `preFetch`
 * may call it before the framework has parsed the parameters and opened the collection. This work is done on a copy of
 * the context, so that the context of the request stays unchanged.
 */
export function countSelected(context: LevelContext): Promise<number> {
  const { cache } = context;
  if (cache.source !== undefined) return cache.source.count();
  return cache.counting ??= countEarly(context).finally(() => delete cache.counting);
}

async function countEarly(context: LevelContext): Promise<number> {
  const { framework } = context.req;
  // The hook may have replaced `req.framework` with an object that has another filter, which the count must apply.
  const state = framework.count === context.state.count ? framework : context.state;
  const own = { ...withOwnRequest(context), state };
  narrowToReader(own);
  // The features of a write do not change the number of selected entities, and could read the body, so their parameters
  // are not read for a count.
  if (own.route.operation.change === undefined) parseFeatures(own);
  const { source } = await openLevel(own);
  return await source.count();
}

/**
 * Returns a copy of a context for a count that a hook requests. Opening a level sets `req.framework`. The copy sets it
 * only on a view of the request, so that the hook that counts keeps its `req.framework`.
 */
function withOwnRequest(context: LevelContext): LevelContext {
  const above = context.above && withOwnRequest(context.above);
  return { ...context, req: requestView(context.req), above, cache: {} };
}

async function openBelow(above: OpenLevelContext, context: LevelContext): Promise<Source> {
  const { link, target } = context.level;
  if (link === undefined) {
    throw new TypeError("Cannot open a route: a level is not a part of another");
  }
  const { entity, seen: parent, version, parentId } = await fetchOne(above);
  context.state.parent = parent;
  if (link.embedded && !context.route.operation.many) {
    above.cache.version = version === undefined
      ? await readVersion(above, nameOf(entity) ?? idParam(above))
      : version;
    above.cache.parentId = parentId;
  }
  // A hook may have returned the parent without its identifier, by which its parts are found. The parts are found by
  // the parent in the form in which it was read, which still has the identifier.
  const found = await above.source.locate("_id" in parent ? parent : entity);
  const seen = seenIn(entity, found);
  const place = { ...found, seen, ...link.embedded && { version: versionCondition(context) } };
  const options = { ...await settingsFor(context), parent: place, link };
  return link.embedded
    ? new ElementSource({ ...options, model: embeddedModel(target, place.model.db) })
    : await openReferences({ ...options, holder: parent });
}

/**
 * Returns the condition for a write below an entity that a hook has allowed: the fields that the hook has read must be
 * stored unchanged.
 */
function seenIn(entity: object, place: PartPath): Filter | undefined {
  const unchanged = isDocument(entity) ? unchangedSeen(entity) : {};
  if (isEmpty(unchanged)) return place.seen;
  return conditionsOf({ ...place, scope: {}, version: undefined }, unchanged);
}

async function settingsFor(context: LevelContext): Promise<CollectionSourceOptions> {
  const { model, level, timeBudget, route } = context;
  const { shape, writes } = level;
  const selection = await selectLevel(context);
  return {
    model,
    shape,
    selection,
    timeBudget,
    maxTimeMS: route.maxTimeMS,
    by: writes?.by,
    part: () => context.cache.claim,
    ...route.operation.change !== undefined && { duties: dutiesOn(context) },
  };
}

function dutiesOn(context: LevelContext) {
  const { level: { target }, route, req, timeBudget, state: { actor } } = context;
  const operation = operationOn(context);
  return route.features.dutiesOf(target, { req, actor, operation, route, timeBudget });
}

/**
 * Returns the name under which class options such as the history record a write at one level of a route. For a request
 * that adds a comment to a movie, the name is `comments.create` at the level of the movie, and `create` at the level of
 * the comment.
 */
function operationOn({ route, above }: LevelContext): string {
  let depth = 0;
  for (let each = above; each !== undefined; each = each.above) depth++;
  return operationAt(route, depth);
}

/**
 * Returns the filter, the scopes, the options and the projection by which a request selects its entities. Evaluates the
 * scopes, checks the filter that hooks may have changed, because a wrong filter could reveal other entities, and
 * replaces its conditions through references by identifiers.
 */
export async function selectLevel(context: LevelContext): Promise<Selection> {
  const { level, state, req } = context;
  enterLevel(context);
  if (level.kind.many) {
    checkLimit(state.options, `${level.operation}() of "${level.target.name}"`);
  }
  const model = { model: level.target.name, shape: level.shape };
  const scopes = [];
  for (const scope of level.scopes) {
    scopes.push(checkFilter(await runHook("scope", () => scope(req)), { what: "scope", ...model }));
  }
  const conditions = [];
  for (const condition of level.conditions) {
    // The values in conditions of class options are cast already. The conditions are marked, so that Mongoose does not
    // cast them for each request.
    conditions.push(markConditions(await runHook("scope", () => condition(req))));
  }
  const present = context.cache.present = everyFilter(...conditions);
  const { hookConditions: added, pieces } = context;
  const checked = checkFilter(state.filter, { what: "filter", ...model });
  // `hookConditions` finds the conditions that hooks have added to the filter by the identity of their objects.
  // `checkFilter()` returns a copy with other objects, so these conditions are taken from the filter before the check.
  const filters = [
    checked,
    added && checkFilter(added(state.filter), { what: "filter", ...model }),
  ] as const;
  const mayRefer = (level.filterPaths?.referred.size ?? 0) > 0;
  const [filter, hookConditions] = mayRefer ? await followReferences(context, filters) : filters;
  if (filter !== checked) context.cache.filter = filter;
  return {
    filter: pieces.filter === undefined ? filter : everyFilter(filter, pieces.filter),
    ...hookConditions && { hookConditions },
    scope: everyFilter(...scopes, ...conditions),
    present,
    ...!level.link?.embedded && { version: versionCondition(context) },
    options: optionsOf(context),
    projection: readProjection(state.projection, level.shape),
  };
}

/**
 * Returns the query options that hooks have set, with the sort order of the client. The option `limit` of a hook is
 * left out for a page, because the query of the page has applied this limit already.
 */
function optionsOf({ pieces, level, state }: LevelContext): Record<string, unknown> {
  const { skip, limit: _limit, ...others } = state.options;
  const lean = level.hooks.lean === true && { lean: true };
  const { window, order } = pieces;
  if (window === undefined) return { ...state.options, ...order && { sort: order }, ...lean };
  if (skip !== undefined && skip !== null) {
    throw new TypeError(
      `Cannot use options.skip of a hook of ${level.operation}() of "${level.target.name}": it has pages`,
    );
  }
  return { ...others, sort: windowOrder({ pieces, state }), ...lean };
}

/**
 * Returns the sort order of a page, from the client or otherwise from the hooks. The order ends with `_id`, so that no
 * two entities are equal in the order and no page repeats or misses an entity.
 */
export function windowOrder(
  { pieces: { order }, state }: Pick<LevelContext, "pieces" | "state">,
): Readonly<Record<string, unknown>> {
  return totalOrder(order ?? readSort(state.options.sort) ?? {});
}
