import { Buffer } from "node:buffer";
import type { Batch } from "../../../database/lists/read_batches.ts";
import { identifierIn } from "../../../json/transcode/documents.ts";
import type { ScanOptions } from "../../../filter/parameters/seek_bounds.ts";
import { countSelected } from "../../collection_reads.ts";
import { nameOf } from "../../entities.ts";
import { readWithin } from "../../page_bounds.ts";
import type { FoundPage, PageRead } from "../../source.ts";
import type { OpenCollection, PlanOf } from "../direct_plan.ts";
import { bytesOf } from "../reads/same_turn.ts";
import { decodeBson, storedIn, StoredWriter } from "../reads/stored_writer.ts";
import type { Stored } from "../reads/stored_writer.ts";
import { directVerdict } from "../verdict.ts";
import { isRefused, openCounted, takeCount } from "./counted_page.ts";
import type { CountedPage } from "./counted_page.ts";
import { standsAt } from "./page_ends.ts";

export type PagePlan = PlanOf<"all"> & { readonly page: PageRead };

/**
 * Reads a page. Requests of one turn of the event loop that ask for the same page get the same one.
 *
 * @returns `undefined` if the entity does not come first that the page is read from.
 */
export function readPage(
  plan: PagePlan,
  collection: OpenCollection,
): Promise<FoundPage | undefined> {
  return collection.timeBudget.wait(sharePage(plan, collection));
}

/** A page as it was read for one request. */
export interface OpenedPage {
  readonly page: FoundPage;
  /** Its documents, if each request has to have them written: defaults of the host may ask in whose request they run. */
  readonly unshared: readonly Stored[] | undefined;
}

async function sharePage(
  plan: PagePlan,
  collection: OpenCollection,
): Promise<FoundPage | undefined> {
  let isOwn = false;
  const opened = await plan.reads.pages.run(() => nameOfPage(plan, collection), () => {
    isOwn = true;
    return openPage(plan, collection);
  });
  if (opened?.unshared === undefined || isOwn) return opened?.page;
  return { ...opened.page, text: await textOf(opened.unshared, plan) };
}

function textOf(
  shown: readonly Stored[],
  { reads: { reader }, query, finder }: PagePlan,
): Promise<Buffer> {
  return reader.joined(shown, { finder, ...query });
}

/** The longest name of a page: BSON is not written whole beyond 17 MB. */
const LONGEST = 2 ** 20;

/** What tells a page from all others; `undefined` if it is not shared. */
function nameOfPage(
  { query, bounds, count, finder, page: { limit, beginsThere } }: PagePlan,
  { model, shape }: OpenCollection,
): string | undefined {
  // What the host runs may ask in whose request it runs.
  if (count !== undefined && !directVerdict(model, shape).counts) return undefined;
  try {
    const rules = finder?.rules;
    if (finder !== undefined && rules === undefined) return undefined;
    const name = bytesOf({ query, scan: bounds?.scan, count, limit, beginsThere, rules });
    return name.length <= LONGEST ? name : undefined;
  } catch {
    // What cannot be cast or sent is told where it is used.
    return undefined;
  }
}

async function openPage(
  plan: PagePlan,
  collection: OpenCollection,
): Promise<OpenedPage | undefined> {
  const { reads: { ends }, query, page } = plan;
  const { limit, beginsThere } = page;
  const { found: all, total } = await readFound(plan, collection);
  if (beginsThere && !standsAt(all[0], page)) return undefined;
  const start = beginsThere ? 1 : 0;
  const shown = all.slice(start, start + limit);
  const more = all.length > start + limit;
  if (more) ends.keep(shown.at(-1), { ...query, ...collection });
  const before = StoredWriter.hydrations;
  const text = await textOf(shown, plan);
  const unshared = StoredWriter.hydrations === before ? undefined : shown;
  const { length: size } = shown;
  return { page: { text, size, last: lastName(shown), more, read: size, total }, unshared };
}

/** Reads the documents of a page, and counts those of its list, in one statement if that is possible. */
async function readFound(
  { reads: { reader }, query, bounds, count, page: { beginsThere } }: PagePlan,
  collection: OpenCollection,
): Promise<CountedPage | { readonly found: readonly Stored[]; readonly total?: undefined }> {
  const { model, shape } = collection;
  if (count === undefined) {
    const open = (scan: Partial<ScanOptions>) =>
      // Without bounds, the list begins elsewhere.
      beginsThere && scan.hint === undefined
        ? NOTHING
        : reader.batches({ ...query, options: { ...query.options, ...scan } });
    return { found: await gather(readWithin(bounds, open)) };
  }
  const { counts } = directVerdict(model, shape);
  const cursor = counts ? openCounted(model, { ...query, count }) : undefined;
  try {
    if (cursor) return takeCount(await gather(reader.batchesOf(cursor)));
  } catch (error) {
    if (!isRefused(model, error)) throw error;
  }
  const [found, total] = await Promise.all([
    gather(reader.batches(query)),
    countSelected(collection, count.limit),
  ]);
  return { found, total };
}

const NOTHING: AsyncIterable<Batch> = { async *[Symbol.asyncIterator]() {} };

async function gather(batches: AsyncIterable<Batch>): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  for await (const batch of batches) found.push(...storedIn(batch));
  return found;
}

/** The identifier of the last document, if a page can continue after it. */
function lastName(found: readonly Stored[]): string | undefined {
  const last = found.at(-1);
  if (!Buffer.isBuffer(last)) return last && nameOf(last);
  return identifierIn(last) ?? nameOf(decodeBson(last));
}
