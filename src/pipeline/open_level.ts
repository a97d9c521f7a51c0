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
import { conditionsOf, type PartPath } from "../store/parts/part_path.ts";
import { makeReferenceSource } from "../sources/parts/reference_source.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { unchangedSinceHooks } from "../write/update_conditions.ts";
import { fetchOne } from "./fetch.ts";
import { followReferences } from "./follow_references.ts";
import { enterLevel, idParam, parseFeatures, requestView } from "./request/request_context.ts";
import type { LevelContext, OpenLevelContext, SelectedLevel } from "./request/request_context.ts";
import { narrowToReader } from "./request/reader_rights.ts";
import { mergePieces } from "./pieces.ts";
import { operationAt } from "./request/route.ts";
import { readVersion, versionCondition } from "./request/versions.ts";

/** A hidden parent hides the entities below it, so parents are read first. */
export async function openLevel(context: LevelContext): Promise<OpenLevelContext> {
  const opened = context.above === undefined
    ? await openRoot(context)
    : await openBelow(await openLevel(context.above), context);
  context.state.count = () => opened.source.count();
  return opened;
}

export async function preparePieces(context: OpenLevelContext): Promise<OpenLevelContext> {
  let prepared = context;
  for (const { feature, params } of context.active) {
    const more = await feature.prepare?.(params, prepared);
    if (more !== undefined) {
      prepared = { ...prepared, pieces: mergePieces([prepared.pieces, more]) };
    }
  }
  return prepared;
}

/** A hook may count before the pipeline has parsed the parameters and opened the collection, so both happen here. */
export async function countSelected(context: LevelContext): Promise<number> {
  const { framework } = context.req;
  // If a hook has replaced `req.framework`, its new filter applies. With another `count`, `req.framework` is of another
  // level.
  const state = framework.count === context.state.count ? framework : context.state;
  const own = narrowToReader(copyContext({ ...context, state }));
  // Features of a write do not select entities, and would read the body too early.
  const isRead = own.route.operation.change === undefined;
  const { source } = await openLevel(isRead ? parseFeatures(own) : own);
  return await source.count();
}

/** Opening a level overwrites `req.framework`, which the hook still uses, so the count needs a copy. */
function copyContext(context: LevelContext): LevelContext {
  const { req, state, above } = context;
  return {
    ...context,
    req: requestView(req),
    state: { ...state },
    above: above && copyContext(above),
  };
}

async function openRoot(context: LevelContext): Promise<OpenLevelContext> {
  const selection = await selectLevel(context);
  const source = new CollectionSource(settingsFor(context, selection));
  return { ...context, above: undefined, selection, source, embedding: undefined };
}

async function openBelow(
  above: OpenLevelContext,
  context: LevelContext,
): Promise<OpenLevelContext> {
  const { link, target } = context.level;
  if (link === undefined) {
    throw new TypeError("Cannot open a route: a level is not a part of another");
  }
  const { entity, passed: parent, version, parentId } = await fetchOne(above);
  context.state.parent = parent;
  const embedding = !link.embedded || context.route.operation.many ? undefined : {
    version: version === undefined
      ? await readVersion(above, nameOf(entity) ?? idParam(above))
      : version,
    parentId,
  };
  // A hook may have returned the parent without its identifier.
  const found = await above.source.locate("_id" in parent ? parent : entity);
  const unchanged = unchangedIn(entity, found);
  const place = { ...found, unchanged, ...link.embedded && { version: versionCondition(context) } };
  const selection = await selectLevel(context);
  const options = { ...settingsFor(context, selection), parent: place, link };
  const source = link.embedded
    ? new ElementSource({ ...options, model: embeddedModel(target, place.model.db) })
    : await makeReferenceSource({ ...options, holder: parent });
  return { ...context, above, selection, source, embedding };
}

/**
 * A hook has allowed a write below this parent because of its values. If another request changes them first, the write
 * fails.
 */
function unchangedIn(entity: object, place: PartPath): Filter | undefined {
  const unchanged = isDocument(entity) ? unchangedSinceHooks(entity) : {};
  if (isEmpty(unchanged)) return place.unchanged;
  return conditionsOf({ ...place, scope: {}, version: undefined }, unchanged);
}

function settingsFor(context: LevelContext, selection: Selection): CollectionSourceOptions {
  const { model, level, timeBudget, route } = context;
  const { shape, writes } = level;
  return {
    model,
    shape,
    selection,
    timeBudget,
    maxTimeMS: route.maxTimeMS,
    by: writes?.by,
    ...route.operation.change !== undefined && { additions: additionsOn(context) },
  };
}

function additionsOn(context: LevelContext) {
  const { level: { target }, route, req, client, timeBudget, state: { actor } } = context;
  const operation = operationOn(context);
  return route.features.additionsOf(target, { req, actor, client, operation, route, timeBudget });
}

function operationOn({ route, above }: LevelContext): string {
  let depth = 0;
  for (let each = above; each !== undefined; each = each.above) depth++;
  return operationAt(route, depth);
}

/** Throws if a hook or a scope returns a malformed filter, which could reveal other entities. */
export async function selectLevel(context: LevelContext): Promise<SelectedLevel> {
  const { level, state, req } = context;
  enterLevel(context);
  if (level.traits.many) {
    checkLimit(state.options, `${level.operation}() of "${level.target.name}"`);
  }
  const model = { model: level.target.name, shape: level.shape };
  const scopes = [];
  for (const scope of level.scopes) {
    scopes.push(checkFilter(await runHook("scope", () => scope(req)), { what: "scope", ...model }));
  }
  const conditions = [];
  for (const condition of level.conditions) {
    // The mark keeps Mongoose from casting the values again for each request.
    conditions.push(markConditions(await runHook("scope", () => condition(req))));
  }
  const classConditions = everyFilter(...conditions);
  const { pieces } = context;
  // The entity of a page's cursor may not match `q`, so it is found by the conditions of hooks alone.
  const added = pieces.window && context.hookConditions;
  const checked = checkFilter(state.filter, { what: "filter", ...model });
  // `hookConditions()` compares objects by identity, so it gets the filter before `checkFilter()` copies it.
  const filters = [
    checked,
    added && checkFilter(added(state.filter), { what: "filter", ...model }),
  ] as const;
  const mayRefer = (level.filterPaths?.referred.size ?? 0) > 0;
  const [filter, hookConditions] = mayRefer ? await followReferences(context, filters) : filters;
  return {
    ...filter !== checked && { followed: filter },
    filter: pieces.filter === undefined ? filter : everyFilter(filter, pieces.filter),
    ...hookConditions && { hookConditions },
    scope: everyFilter(...scopes, ...conditions),
    classConditions,
    ...!level.link?.embedded && { version: versionCondition(context) },
    options: optionsOf(context),
    projection: readProjection(state.projection, level.shape),
  };
}

/** A page already respects `options.limit` of a hook, so only lists without pages get it. */
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

/** The order ends with `_id`, so that no page repeats or misses an entity. */
export function windowOrder(
  { pieces: { order }, state }: Pick<LevelContext, "pieces" | "state">,
): Readonly<Record<string, unknown>> {
  return totalOrder(order ?? readSort(state.options.sort) ?? {});
}
