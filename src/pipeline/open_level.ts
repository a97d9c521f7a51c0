import { CollectionSource } from "../sources/collection_source.ts";
import type { CollectionSourceOptions } from "../sources/collection_source.ts";
import { nameOf } from "../sources/entities.ts";
import { openPart } from "../sources/parts/open_part.ts";
import type { Source } from "../sources/source.ts";
import { fetchOne } from "./fetch.ts";
import { holderOf, readVersion, versionCondition, versionRead } from "./request/versions.ts";
import { selectLevel } from "./select_level.ts";
import type { LevelCall, OpenLevel } from "./request/call.ts";
import { foreignRequest } from "./request/foreign_request.ts";

/** Opens a level. Every level above it is read first, as its reader may see it: the parent guards what it holds. */
export async function openLevel(at: LevelCall): Promise<OpenLevel> {
  const source = at.above === undefined
    ? new CollectionSource(await settingsFor(at))
    : await openBelow(await openLevel(at.above), at);
  at.opened.source = source;
  return { ...at, source };
}

/** Counts what a level selects. A hook that runs before the level is open opens one of its own, once at a time. */
export function countSelected(at: LevelCall): Promise<number> {
  const { opened } = at;
  if (opened.source !== undefined) return opened.source.count();
  return opened.counting ??= countEarly(at).finally(() => delete opened.counting);
}

async function countEarly(at: LevelCall): Promise<number> {
  const { framework } = at.req;
  // The hook may have replaced it, with another filter.
  const state = framework.count === at.state.count ? framework : at.state;
  const { source } = await openLevel({ ...withOwnRequest(at), state });
  return await source.count();
}

/** To open a level sets `req.framework`, which the hook that counts still uses. */
function withOwnRequest(at: LevelCall): LevelCall {
  const above = at.above && withOwnRequest(at.above);
  return { ...at, req: foreignRequest(at.req), above, opened: {} };
}

async function openBelow(above: OpenLevel, at: LevelCall): Promise<Source> {
  const { link, target } = at.level;
  if (link === undefined) {
    throw new TypeError("Cannot open a route: a level is not a part of another");
  }
  const { stored, seen: parent, version: read } = await fetchOne(above);
  at.state.parent = parent;
  if (link.embedded && !at.route.operation.many) {
    const known = versionRead(above, read);
    above.opened.version = known === undefined ? await readVersion(above, nameOf(stored)) : known;
    above.opened.holder = holderOf(above, stored);
  }
  // A hook may have reduced the parent to what may be shown of it, its identifier left out.
  const found = await above.source.locate("_id" in parent ? parent : stored);
  const place = link.embedded
    ? found.boundTo({
      version: versionCondition(at) ?? {},
      isCounted: typeof above.opened.version === "number",
    })
    : found;
  return await openPart({ ...await settingsFor(at), place, link, target, parent });
}

async function settingsFor(at: LevelCall): Promise<CollectionSourceOptions> {
  const { model, level, timeBudget, route } = at;
  const selection = await selectLevel(at);
  return { model, shape: level.shape, selection, timeBudget, maxTimeMS: route.maxTimeMS };
}
