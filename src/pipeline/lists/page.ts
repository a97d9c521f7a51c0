import { andThen } from "../../declare/hooks/and_then.ts";
import { badParameter } from "../../errors/refusals.ts";
import type { PageQuery } from "../../filter/parameters/read_rules.ts";
import { seek } from "../../filter/parameters/seek.ts";
import { isOrderOfValues } from "../../filter/parameters/total_order.ts";
import { Types } from "../../schema/mongoose/bson.ts";
import { nameOf } from "../../sources/entities.ts";
import { isSamePlace } from "../../sources/direct/pages/page_ends.ts";
import type { FoundPage, PageRead } from "../../sources/source.ts";
import { fetchAnyway, fetchEntities } from "../fetch.ts";
import { showEntity } from "../read.ts";
import { textsOf } from "../references/written.ts";
import type { Written } from "../references/written.ts";
import type { OpenLevel } from "../request/call.ts";
import { isOver } from "../request/reply.ts";
import { pageOrder } from "../select_level.ts";
import { mapInOrder } from "./map_in_order.ts";

/**
 * Tells how a page is read: the cheapest way first, the next one where that finds that it does not hold, and last one that
 * always holds. The limit of a hook binds as that of the client does.
 */
export async function* waysToPage(
  at: OpenLevel,
  { limit, skip, after }: PageQuery,
): AsyncGenerator<PageRead> {
  const part = { skip, limit: limitOf(at, limit), open: mayLeaveOut(at) };
  if (after === undefined) return yield part;
  const order = pageOrder(at);
  if (!isOrderOfValues(order, at.level.shape)) {
    throw badParameter("after", "no value in this order: its pages continue by skip");
  }
  const { length } = Object.keys(order);
  const mayBegin = length > 1 && !part.open && at.asked.count === undefined;
  const end = mayBegin ? await at.source.pageEnd?.(after) : undefined;
  const remembered = end && { order, values: end };
  if (remembered) yield { ...part, place: remembered, beginsThere: true };
  const values = await valuesOf(at, { id: after, keys: Object.keys(order) });
  if (values === undefined) throw badParameter("after", "the identifier of an entity of the list");
  const place = { order, values };
  const isTried = remembered !== undefined && isSamePlace(remembered, place);
  if (mayBegin && !isTried) yield { ...part, place, beginsThere: true };
  yield { ...part, place, behind: seek(order, values) };
}

function limitOf({ state }: OpenLevel, limit: number): number {
  return Math.min(limit, Number(state.options.limit ?? limit));
}

/** Gives the values of an entity that a client may see; nothing is read where its identifier is all. */
async function valuesOf(
  at: OpenLevel,
  { id, keys }: { readonly id: string; readonly keys: readonly string[] },
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (keys.length === 1) return { _id: new Types.ObjectId(id) };
  return await isShown(at, id) ? await at.source.storedValues(id, keys) : undefined;
}

/** Whether hooks show an entity: a page behind it would tell of its values. */
async function isShown(at: OpenLevel, id: string): Promise<boolean> {
  if (!mayLeaveOut(at)) return true;
  const entity = await fetchAnyway(at, id);
  return entity !== undefined && await showEntity(at, entity) !== undefined;
}

function mayLeaveOut({ level: { hooks } }: OpenLevel): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}

interface Shown {
  readonly written: Written;
  readonly entity: object;
  /** Its place among those that were read. */
  readonly place: number;
}

/** Reads entities until a page is full: hooks may leave some out. One more tells whether there is another page. */
export async function fillPage(at: OpenLevel, page: PageRead): Promise<FoundPage> {
  const { limit } = page;
  const kept: Shown[] = [];
  let read = 0;
  const show = (entity: object) => {
    const place = read++;
    return andThen(
      showEntity(at, entity),
      (written) => written === undefined ? undefined : { written, entity, place },
    );
  };
  for await (
    const entities of takeAsNeeded(fetchEntities(at, page), () => limit + 1 - kept.length)
  ) {
    if (isOver(at.req)) break;
    for await (const shown of mapInOrder([entities], show)) kept.push(...shown);
  }
  const shown = kept.slice(0, limit);
  const last = shown.at(-1);
  return {
    text: (await textsOf(at, shown.map(({ written }) => written))).join(","),
    size: shown.length,
    last: last && nameOf(last.entity),
    more: kept.length > limit,
    read: last === undefined ? 0 : last.place + 1,
  };
}

/** Gives as many entities at a time as are still needed. */
async function* takeAsNeeded(
  lists: AsyncIterable<readonly object[]>,
  needed: () => number,
): AsyncGenerator<readonly object[]> {
  let taken: object[] = [];
  for await (const entities of lists) {
    for (const entity of entities) {
      taken.push(entity);
      if (taken.length < needed()) continue;
      yield taken;
      taken = [];
      if (needed() <= 0) return;
    }
  }
  if (taken.length > 0) yield taken;
}
