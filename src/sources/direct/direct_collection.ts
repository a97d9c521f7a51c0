import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Batch } from "../../database/lists/read_batches.ts";
import { withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS } from "../../filter/filters.ts";
import { toJson } from "../../json/to_json.ts";
import { asVersion } from "../../schema/fields/version.ts";
import type { Version } from "../../schema/fields/version.ts";
import { identifierIn, numberIn } from "../../json/transcode/documents.ts";
import { countSelected } from "../collection_reads.ts";
import { nameOf } from "../entities.ts";
import { readWithin } from "../page_bounds.ts";
import type { FoundPage } from "../source.ts";
import { decodeBson, storedIn } from "./reads/stored_writer.ts";
import type { LateText } from "./reads/late_text.ts";
import { isRefused, openCounted, takeCount } from "./reads/counted_page.ts";
import type { CountedPage } from "./reads/counted_page.ts";
import type { JsonQuery } from "./reads/json_reader.ts";
import type { Stored } from "./reads/stored_writer.ts";
import type { DirectPlan, OpenCollection, PlanOf } from "./direct_plan.ts";
import { directVerdict } from "./verdict.ts";
import { updateStored } from "./writes/update_stored.ts";

export interface DirectResult {
  readonly text?: string | Uint8Array;
  /** An entity whose text may not be needed. */
  readonly late?: LateText;
  /** A list as JSON text: pieces of one entity or several, with commas between. */
  readonly texts?: AsyncIterable<Uint8Array>;
  readonly version?: Version;
  readonly page?: FoundPage;
  readonly created?: string;
}

/** A collection that is read and written without documents. */
export class DirectCollection {
  readonly #collection: OpenCollection;

  constructor(collection: OpenCollection) {
    this.#collection = collection;
  }

  /** Reads a list as values, several at a time. */
  values({ reads, query, bounds, page }: PlanOf<"all">): AsyncIterable<readonly object[]> {
    const options = { ...this.#collection, page };
    return readWithin(
      bounds,
      (scan) => reads.reader.values(withOptions(query, scan), options),
    );
  }

  /** Runs a plan; `null` where it selects no entity, `undefined` where a document has to say why data is refused. */
  async run(plan: DirectPlan): Promise<DirectResult | null | undefined> {
    switch (plan.operation) {
      case "all":
        return plan.page === undefined
          ? { texts: this.#list(plan) }
          : { page: await this.#page(plan, plan.page.limit) };
      case "one":
        return await this.#one(plan);
      case "create":
        return await this.#create(plan);
      case "update":
        return await this.#update(plan);
      case "remove":
        return await this.#remove(plan);
    }
  }

  #list({ reads: { reader }, query, finder }: PlanOf<"all">): AsyncIterable<Uint8Array> {
    const { timeBudget } = this.#collection;
    return finder === undefined
      ? reader.read(query, timeBudget)
      : reader.readPopulated(query, { finder, timeBudget });
  }

  async #page(plan: PlanOf<"all">, limit: number): Promise<FoundPage> {
    const { reads: { reader }, query, finder } = plan;
    const { found, total } = await this.#pageOf(plan);
    const shown = found.slice(0, limit);
    return {
      text: await reader.joined(shown, { finder, ...query }),
      size: shown.length,
      last: lastName(shown),
      more: found.length > limit,
      read: shown.length,
      total,
    };
  }

  /** Reads the documents of a page, and counts those of its list, in one statement if that is possible. */
  async #pageOf(
    { reads: { reader }, query, bounds, count }: PlanOf<"all">,
  ): Promise<CountedPage | { readonly found: readonly Stored[]; readonly total?: undefined }> {
    const { model, shape, timeBudget } = this.#collection;
    if (count === undefined) {
      const open = (scan: object) => reader.batches(withOptions(query, scan), timeBudget);
      return { found: await gather(readWithin(bounds, open)) };
    }
    const { counts } = directVerdict(model, shape);
    const cursor = counts ? openCounted(model, { ...query, count }) : undefined;
    try {
      if (cursor) return takeCount(await gather(reader.batchesOf(cursor, timeBudget)));
    } catch (error) {
      if (!isRefused(model, error)) throw error;
    }
    const [found, total] = await Promise.all([
      gather(reader.batches(query, timeBudget)),
      countSelected(this.#collection, count.limit),
    ]);
    return { found, total };
  }

  async #one(plan: PlanOf<"one">): Promise<DirectResult | null> {
    const { reads: { reader }, query, finder } = plan;
    const stored = await this.#find(plan);
    if (stored === undefined) return null;
    const version = versionIn(stored, query.also);
    // What a client selects has a writer of its own.
    if (finder === undefined && isEmpty(query.projection)) {
      return { late: reader.late(stored), version };
    }
    return { text: await reader.joined([stored], { finder, ...query }), version };
  }

  async #find({ name, reads, query }: PlanOf<"one">): Promise<Stored | undefined> {
    const { timeBudget } = this.#collection;
    const { _id: shown = true } = query.projection;
    // Shared reads tell documents apart by their identifiers.
    if (name._id instanceof mongoose.Types.ObjectId && shown) {
      return await timeBudget.wait(reads.shared.find(name._id, query));
    }
    const conditions = everyFilter(name, query.conditions);
    for await (const batch of reads.reader.batches({ ...query, conditions }, timeBudget)) {
      return storedIn(batch)[0];
    }
    return undefined;
  }

  async #create({ entity }: PlanOf<"create">): Promise<DirectResult> {
    const { model, timeBudget, shape } = this.#collection;
    await timeBudget.wait(model.collection.insertOne(entity, timeBudget.statement()));
    return { text: toJson(entity, shape), created: String(entity._id), version: 0 };
  }

  async #update(
    { conditions, changes, reads }: PlanOf<"update">,
  ): Promise<DirectResult | null | undefined> {
    const { model, timeBudget, shape } = this.#collection;
    const statement = timeBudget.statement();
    const stored = await timeBudget.wait(updateStored(model, { conditions, changes, statement }));
    if (stored === null || stored === undefined) return stored;
    const text = reads?.reader.text(stored) ?? toJson(model.hydrate(stored), shape);
    return { text, version: versionIn(stored, String(model.schema.get("versionKey"))) };
  }

  async #remove({ conditions }: PlanOf<"remove">): Promise<DirectResult | null> {
    const { model, timeBudget } = this.#collection;
    const query = model.deleteOne({}, { ...KEEP_CONDITIONS, ...timeBudget.statement() });
    const removed = await timeBudget.wait(withConditions(query, conditions).exec());
    // With a write concern of 0, MongoDB does not tell.
    return removed.deletedCount > 0 || !removed.acknowledged ? {} : null;
  }
}

function withOptions(query: JsonQuery, options: object): JsonQuery {
  return { ...query, options: { ...query.options, ...options } };
}

/** The version of a document under its name; `null` if it has none. */
function versionIn(stored: Stored, name: string | undefined): Version {
  if (name === undefined) return null;
  return asVersion(
    Buffer.isBuffer(stored) ? numberIn(stored, name) : stored[name as keyof Stored],
  );
}

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
