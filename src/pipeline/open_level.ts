import { runHook } from "../declare/hooks/run_hook.ts";
import { checkFilter } from "../filter/check_filter.ts";
import { everyFilter } from "../filter/filters.ts";
import { totalOrder } from "../filter/parameters/order.ts";
import { readProjection } from "../filter/projection.ts";
import { checkLimit, readSort, type Selection } from "../filter/selection.ts";
import { embeddedModel } from "../schema/get_model.ts";
import { CollectionSource, type CollectionSourceOptions } from "../sources/collection_source.ts";
import { nameOf } from "../sources/entities.ts";
import { ElementSource } from "../sources/parts/element_source.ts";
import { openReferences } from "../sources/parts/reference_source.ts";
import type { Source } from "../sources/source.ts";
import { fetchOne } from "./fetch.ts";
import { enterLevel, foreignRequest, idParam } from "./request/call.ts";
import type { LevelCall, OpenLevel } from "./request/call.ts";
import { narrowToReader } from "./request/reader_rights.ts";
import { readVersion, versionCondition } from "./request/versions.ts";

/** Opens a level. Every level above it is read first, as its reader may see it: the parent guards what it holds. */
export async function openLevel(at: LevelCall): Promise<OpenLevel> {
  const source = at.above === undefined
    ? new CollectionSource(await settingsFor(at))
    : await openBelow(await openLevel(at.above), at);
  at.opened.source = source;
  return Object.assign(at, { source });
}

/** Counts the entities that a level selects. For a hook that runs before the level is open, it opens another one. */
export function countSelected(at: LevelCall): Promise<number> {
  const { opened } = at;
  if (opened.source !== undefined) return opened.source.count();
  return opened.counting ??= countEarly(at).finally(() => delete opened.counting);
}

async function countEarly(at: LevelCall): Promise<number> {
  const { framework } = at.req;
  // The hook may have replaced it, with another filter.
  const state = framework.count === at.state.count ? framework : at.state;
  const own = { ...withOwnRequest(at), state };
  narrowToReader(own);
  const { source } = await openLevel(own);
  return await source.count();
}

/** Opening a level sets `req.framework`, which the hook that counts still uses. */
function withOwnRequest(at: LevelCall): LevelCall {
  const above = at.above && withOwnRequest(at.above);
  return { ...at, req: foreignRequest(at.req), above, opened: {} };
}

async function openBelow(above: OpenLevel, at: LevelCall): Promise<Source> {
  const { link, target } = at.level;
  if (link === undefined) {
    throw new TypeError("Cannot open a route: a level is not a part of another");
  }
  const { entity, seen: parent, version, holder } = await fetchOne(above);
  at.state.parent = parent;
  if (link.embedded && !at.route.operation.many) {
    above.opened.version = version === undefined
      ? await readVersion(above, nameOf(entity) ?? idParam(above))
      : version;
    above.opened.holder = holder;
  }
  // A hook may have left the identifier out of the parent.
  const found = await above.source.locate("_id" in parent ? parent : entity);
  const place = link.embedded ? { ...found, version: versionCondition(at) } : found;
  const options = { ...await settingsFor(at), parent: place, link };
  return link.embedded
    ? new ElementSource({ ...options, model: embeddedModel(target, place.model.db) })
    : await openReferences({ ...options, holder: parent });
}

async function settingsFor(at: LevelCall): Promise<CollectionSourceOptions> {
  const { model, level, timeBudget, route } = at;
  const { shape, writes } = level;
  const selection = await selectLevel(at);
  return {
    ...{ model, shape, selection, timeBudget, maxTimeMS: route.maxTimeMS, by: writes?.by },
    key: () => at.opened.key,
  };
}

/** Evaluates the scopes of a level, and checks what hooks have made of its filter. */
export async function selectLevel(at: LevelCall): Promise<Selection> {
  const { level, state, req } = at;
  enterLevel(at);
  if (level.kind.many) {
    checkLimit(state.options, `${level.operation}() of "${level.target.name}"`);
  }
  const model = { model: level.target.name, shape: level.shape };
  const scopes = [];
  for (const scope of level.scopes) {
    scopes.push(checkFilter(await runHook("scope", () => scope(req)), { what: "scope", ...model }));
  }
  const filter = checkFilter(state.filter, { what: "filter", ...model });
  const { search, added } = at.asked;
  return {
    filter: search === undefined ? filter : everyFilter(filter, search),
    // Additions are told by identity: the check below makes copies.
    ...added && { added: checkFilter(added(state.filter), { what: "filter", ...model }) },
    scope: everyFilter(...scopes),
    ...!level.link?.embedded && { version: versionCondition(at) },
    options: optionsOf(at),
    projection: readProjection(state.projection, level.shape),
  };
}

/** The options of hooks, with the order that the client asks for. Pages take their limits from what is asked. */
function optionsOf({ asked, level, state }: LevelCall): Record<string, unknown> {
  const { skip, limit: _limit, ...others } = state.options;
  const lean = level.hooks.lean === true && { lean: true };
  const { page, order } = asked;
  if (page === undefined) return { ...state.options, ...order && { sort: order }, ...lean };
  if (skip !== undefined && skip !== null) {
    throw new TypeError(
      `Cannot use options.skip of a hook of ${level.operation}() of "${level.target.name}": it has pages`,
    );
  }
  return { ...others, sort: pageOrder({ asked, state }), ...lean };
}

/** The order of a page: what the client asks for, or else the hooks. */
export function pageOrder(
  { asked: { order }, state }: Pick<LevelCall, "asked" | "state">,
): Readonly<Record<string, unknown>> {
  return totalOrder(order ?? readSort(state.options.sort) ?? {});
}
