import mongoose from "mongoose";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { andThen } from "../../declare/hooks/run_hook.ts";
import { escapePattern } from "../../filter/escape_pattern.ts";
import { everyFilter, markCompiled } from "../../filter/filters.ts";
import type { SortValues } from "../../filter/order.ts";
import type { PageRead } from "../source.ts";
import { mapInOrder } from "./map_in_order.ts";

interface FillOptions<E, T> {
  readonly page: PageRead;
  /** Called again for further entities if hooks have left out some, until a page is full. */
  readonly list: (part: PageRead) => AsyncIterable<readonly E[]>;
  readonly show: (entity: E) => MaybePromise<T | undefined>;
  readonly endOf: (index: number) => SortValues | undefined;
  readonly isOver: () => boolean;
  /** `false` for a `fetch` hook, which returns all its entities at once. */
  readonly hasRest: boolean;
  /** `skip` counts no entities that hooks leave out, or clients could count those. */
  readonly leavesOut: boolean;
}

const SKIPPED_AT_ONCE = 100;

/** The index also counts entities that hooks have left out. */
export interface PassedEntity<T> {
  readonly value: T;
  readonly index: number;
}

export async function fillPage<E, T>(
  { page, list, show, endOf, isOver, hasRest, leavesOut }: FillOptions<E, T>,
): Promise<PassedEntity<T>[]> {
  const { limit } = page;
  const kept: PassedEntity<T>[] = [];
  let skipped = leavesOut ? page.skip : 0;
  const whole = { ...page, skip: page.skip - skipped, limit: limit + skipped };
  const needed = () => skipped > 0 ? Math.min(skipped, SKIPPED_AT_ONCE) : limit + 1 - kept.length;
  let count = 0;
  const pass = (each: E) => {
    const index = count++;
    return andThen(show(each), (value) => value === undefined ? undefined : { value, index });
  };
  const fill = async (part: PageRead) => {
    for await (const some of takeAsNeeded(list(part), needed)) {
      if (isOver()) break;
      for await (const shown of mapInOrder([some], pass)) {
        kept.push(...shown.slice(skipped));
        skipped = Math.max(0, skipped - shown.length);
      }
    }
  };
  await fill(whole);
  const isShort = kept.length <= limit && count > whole.limit && !isOver();
  if (isShort && hasRest) {
    await fill(restOf(whole, Array.from({ length: count }, (_, index) => endOf(index))));
  }
  return kept;
}

/** Writes of other requests shift positions, so the entities that were read are excluded by `_id`. */
function restOf(page: PageRead, read: readonly (SortValues | undefined)[]): PageRead {
  const rest = { ...page, isRest: true };
  const ids = read.flatMap((end) => end === undefined ? [] : [exactly(end._id, page)]);
  if (ids.length < read.length) return { ...rest, skip: page.skip + read.length };
  const others = { _id: markCompiled({ $nin: ids }) };
  return { ...rest, afterCursor: everyFilter(page.afterCursor, others) };
}

/** A collation may make two identifiers equal, but a regular expression matches only one. */
function exactly(id: unknown, { isLoose = false }: PageRead): unknown {
  if (!isLoose || typeof id !== "string") return id;
  return new mongoose.mongo.BSONRegExp(`^${escapePattern(id)}\\z`);
}

async function* takeAsNeeded<E>(
  lists: AsyncIterable<readonly E[]>,
  needed: () => number,
): AsyncGenerator<readonly E[]> {
  let taken: E[] = [];
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
