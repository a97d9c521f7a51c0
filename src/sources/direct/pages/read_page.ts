import type { Batch } from "../../../database/read_batches.ts";
import { countSelected } from "../../collection_reads.ts";
import { pageEnd } from "../../page_end.ts";
import type { FoundPage, PageRead } from "../../source.ts";
import type { OpenCollection, PlanOf } from "../direct_plan.ts";
import { storedIn } from "../reads/stored_writer.ts";
import type { Stored } from "../reads/stored_writer.ts";
import { directVerdict } from "../verdict.ts";
import { isRefused, openCounted, takeCount } from "./counted_page.ts";
import type { CountedPage } from "./counted_page.ts";

export type PagePlan = PlanOf<"all"> & { readonly page: PageRead };

/** Reads a page. */
export function readPage(plan: PagePlan, collection: OpenCollection): Promise<FoundPage> {
  return collection.timeBudget.wait(openPage(plan, collection));
}

async function openPage(
  plan: PagePlan,
  collection: OpenCollection,
): Promise<FoundPage> {
  const { reads: { reader }, query, finder, page } = plan;
  const { found: all, total } = await readFound(plan, collection);
  const shown = all.slice(0, page.limit);
  const more = all.length > page.limit;
  const text = await reader.joined(shown, { finder, ...query });
  const end = more ? pageEnd(shown.at(-1), page) : undefined;
  return { text, size: shown.length, end, more, read: shown.length, total };
}

/** Reads the documents of a page, and counts those of its list, in one statement if that is possible. */
async function readFound(
  { reads: { reader }, query, count }: PagePlan,
  collection: OpenCollection,
): Promise<CountedPage | { readonly found: readonly Stored[]; readonly total?: undefined }> {
  const { model, shape } = collection;
  if (count === undefined) return { found: await gather(reader.batches(query)) };
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

async function gather(batches: AsyncIterable<Batch>): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  for await (const batch of batches) found.push(...storedIn(batch));
  return found;
}
