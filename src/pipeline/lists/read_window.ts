import { andThen } from "../../declare/hooks/run_hook.ts";
import type { Schema } from "mongoose";
import type { SortValues } from "../../filter/order.ts";
import { everyFilter, markCompiled } from "../../filter/filters.ts";
import type { EntitiesRead, FoundPage, PageRead } from "../../sources/source.ts";
import { toJsonValue } from "../../json/to_json.ts";
import { entityValue, joinedTexts, passReadHooks } from "../read.ts";
import type { OpenLevelContext } from "../request/request_context.ts";
import { isOver } from "../request/reply.ts";
import { showsStoredValues } from "../../schema/mongoose/documents/hide_in_json.ts";
import { mapInOrder } from "./map_in_order.ts";

interface Shown {
  readonly value: unknown;
  readonly entity: object;
  readonly index: number;
}

/**
 * Reads one page of a list whose entities pass hooks. Hooks may leave out entities, so the function reads further
 * entities until the page is full or the list ends.
 */
export async function fillWindow(
  context: OpenLevelContext,
  { read, page }: { readonly read: EntitiesRead; readonly page: PageRead },
): Promise<FoundPage> {
  const { limit } = page;
  const kept: Shown[] = [];
  const ends: (() => SortValues | undefined)[] = [];
  let count = 0;
  const show = (each: object) => {
    const index = count++;
    return andThen(
      passReadHooks(context, each),
      (entity) => entity && { value: entityValue(context, entity), entity, index },
    );
  };
  const fill = async (part: PageRead) => {
    const entities = read.list({ ...part, note: (end) => ends.push(end) });
    for await (const some of takeAsNeeded(entities, () => limit + 1 - kept.length)) {
      if (isOver(context.req)) break;
      for await (const shown of mapInOrder([some], show)) kept.push(...shown);
    }
  };
  await fill(page);
  const isShort = kept.length <= limit && count > limit && !isOver(context.req);
  // A `fetch` hook has returned all of its entities already, so there are no further entities to read.
  if (isShort && context.level.hooks.fetch === undefined) {
    await fill(restOf(page, ends.map((end) => end())));
  }
  const shown = kept.slice(0, limit);
  const last = shown.at(-1);
  const values = shown.map(({ value }) => value);
  return {
    values,
    text: await joinedTexts(context, values),
    size: shown.length,
    end: last && ends[last.index]?.(),
    shown: last && await mayShowOther(context) ? wholeValue(context, last) : undefined,
    more: kept.length > limit,
    read: last === undefined ? 0 : last.index + 1,
  };
}

/**
 * Returns an entity as JSON with all fields that the reader may see. A cursor contains a sort value only if this JSON
 * shows the same value, and the client may have left out the sorted fields by `select`.
 */
function wholeValue(
  { pieces, level: { shape } }: OpenLevelContext,
  { value, entity }: Shown,
): unknown {
  return pieces.shown === undefined ? value : toJsonValue(entity, shape);
}

/**
 * Returns the query for further entities of a page from which hooks have left out entities. The query excludes the
 * entities that were read already by their identifiers. A number of skipped entities would not be exact, because other
 * requests insert and remove entities at the same time.
 */
function restOf(page: PageRead, read: readonly (SortValues | undefined)[]): PageRead {
  const rest = { ...page, isRest: true };
  const ids = read.flatMap((end) => end === undefined ? [] : [end._id]);
  if (ids.length < read.length) return { ...rest, skip: page.skip + read.length };
  const others = { _id: markCompiled({ $nin: ids }) };
  return { ...rest, afterCursor: everyFilter(page.afterCursor, others) };
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

/**
 * Whether the JSON of an entity may show other values than the database stores, because a hook or a function of the
 * model has changed them. In this case, a cursor contains a sort value only if the JSON shows the same value.
 * Otherwise, the cursor would reveal a value that the hook hides from the client.
 */
export async function mayShowOther(context: OpenLevelContext): Promise<boolean> {
  return mayLeaveOut(context) || !showsStoredValues((await context.model()).schema as Schema);
}

export function mayLeaveOut({ level: { hooks } }: OpenLevelContext): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}
