import { andThen } from "../../declare/hooks/run_hook.ts";
import { badParameter } from "../../errors/refusals.ts";
import type { PageQuery } from "../../filter/parameters/read_rules.ts";
import { isOrderOfValues, seek, seekInOneScan } from "../../filter/parameters/order.ts";
import type { SortValues } from "../../filter/parameters/order.ts";
import { everyFilter, markCompiled } from "../../filter/filters.ts";
import type { EntitiesRead, FoundPage, PageRead } from "../../sources/source.ts";
import { toJsonValue } from "../../json/to_json.ts";
import { entityValue, joinedTexts, passReadHooks } from "../read.ts";
import type { OpenLevel } from "../request/call.ts";
import { isOver } from "../request/reply.ts";
import { pageOrder } from "../open_level.ts";
import { mapInOrder } from "./map_in_order.ts";
import { cursorPaths, mayShowOther, valuesAt } from "./page_cursor.ts";

export async function planPage(
  at: OpenLevel,
  { limit: asked, skip, after }: PageQuery,
): Promise<PageRead> {
  const limit = Math.min(asked, Number(at.state.options.limit ?? asked));
  const part = { skip, limit, paths: await cursorPaths(at) };
  if (after === undefined) return part;
  const order = pageOrder(at);
  if (!isOrderOfValues(order, at.level.shape)) {
    throw badParameter("after", "no value in this order: its pages continue by skip");
  }
  const values = await valuesAt(at, { order, cursor: after });
  const behind = at.level.reads?.page?.inOneScan ? seekInOneScan : seek;
  return { ...part, behind: behind(order, values) };
}

interface Shown {
  readonly value: unknown;
  readonly entity: object;
  readonly index: number;
}

export async function fillPage(
  at: OpenLevel,
  { read, page }: { readonly read: EntitiesRead; readonly page: PageRead },
): Promise<FoundPage> {
  const { limit } = page;
  const kept: Shown[] = [];
  const ends: (() => SortValues | undefined)[] = [];
  let count = 0;
  const show = (each: object) => {
    const index = count++;
    return andThen(
      passReadHooks(at, each),
      (entity) => entity && { value: entityValue(at, entity), entity, index },
    );
  };
  const fill = async (part: PageRead) => {
    const entities = read.list({ ...part, note: (end) => ends.push(end) });
    for await (const some of takeAsNeeded(entities, () => limit + 1 - kept.length)) {
      if (isOver(at.req)) break;
      for await (const shown of mapInOrder([some], show)) kept.push(...shown);
    }
  };
  await fill(page);
  const isShort = kept.length <= limit && count > limit && !isOver(at.req);
  // A `fetch` hook has given all that there is.
  if (isShort && at.level.hooks.fetch === undefined) {
    await fill(restOf(page, ends.map((end) => end())));
  }
  const shown = kept.slice(0, limit);
  const last = shown.at(-1);
  const values = shown.map(({ value }) => value);
  return {
    ...{ values, text: await joinedTexts(at, values) },
    size: shown.length,
    end: last && ends[last.index]?.(),
    shown: last && await mayShowOther(at) ? wholeValue(at, last) : undefined,
    more: kept.length > limit,
    read: last === undefined ? 0 : last.index + 1,
  };
}

/** An entity without the fields that the client leaves out: its place in the order may be among them. */
function wholeValue({ asked, level: { shape } }: OpenLevel, { value, entity }: Shown): unknown {
  return asked.select === undefined ? value : toJsonValue(entity, shape);
}

/** Continues a page without the entities that were read: their positions change when others are inserted or removed. */
function restOf(page: PageRead, read: readonly (SortValues | undefined)[]): PageRead {
  const rest = { ...page, isRest: true };
  const ids = read.flatMap((end) => end === undefined ? [] : [end._id]);
  if (ids.length < read.length) return { ...rest, skip: page.skip + read.length };
  const others = { _id: markCompiled({ $nin: ids }) };
  return { ...rest, behind: everyFilter(page.behind, others) };
}

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
