import { Buffer } from "node:buffer";
import type { TimeBudget } from "../../store/time_budget.ts";
import { andThen } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { POPULATED_AT_ONCE } from "../../store/read_batches.ts";
import { topOf } from "../../filter/filters.ts";
import { documentsIn } from "../../json/bytes/bson_reader.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import { fillMarked, type TargetFinder, wantedIn } from "../../json/populate.ts";
import { fillPage } from "../lists/fill_page.ts";
import { mapInOrder } from "../lists/map_in_order.ts";
import type { FieldHooks, FoundPage, PageRead } from "../source.ts";
import { pageEnd } from "../window_end.ts";
import { writeMarked } from "./bson_to_json.ts";
import type { BsonReads, StoredQuery } from "./bson_reads.ts";

interface HookedReadsOptions {
  readonly reader: BsonReads;
  readonly fieldHooks: FieldHooks;
  readonly finder: TargetFinder | undefined;
  readonly timeBudget: TimeBudget;
}

interface Passed {
  readonly stored: Buffer;
  readonly leftOut: readonly string[];
}

export class HookedReads {
  readonly #reader: BsonReads;
  readonly #hooks: FieldHooks;
  readonly #finder: TargetFinder | undefined;
  readonly #timeBudget: TimeBudget;

  constructor({ reader, fieldHooks, finder, timeBudget }: HookedReadsOptions) {
    this.#reader = reader;
    this.#hooks = fieldHooks;
    this.#finder = finder;
    this.#timeBudget = timeBudget;
  }

  async *list(query: StoredQuery): AsyncGenerator<JsonPiece> {
    const { separator = "," } = query;
    let begun = false;
    for await (const passed of this.#passedBatches(query)) {
      const text = await this.#concat(passed, query);
      if (begun) yield separator;
      begun = true;
      yield text;
    }
  }

  async *each(query: StoredQuery): AsyncGenerator<readonly Buffer[]> {
    for await (const passed of this.#passedBatches(query)) yield await this.#texts(passed, query);
  }

  async eachOf(
    page: PageRead,
    queryOf: (page: PageRead) => StoredQuery,
  ): Promise<readonly Buffer[]> {
    const passed = await this.#fill(page, queryOf);
    return await this.#texts(passed.slice(0, page.limit), queryOf(page));
  }

  async page(
    page: PageRead,
    queryOf: (page: PageRead) => StoredQuery,
  ): Promise<FoundPage> {
    const passed = await this.#fill(page, queryOf);
    const query = queryOf(page);
    const shown = passed.slice(0, page.limit);
    const last = shown.at(-1);
    const more = passed.length > page.limit;
    return {
      text: shown.length === 0 ? "" : await this.#concat(shown, query),
      size: shown.length,
      end: more ? pageEnd(last?.stored, page) : undefined,
      next: page.isLoose ? pageEnd(passed[page.limit]?.stored, page) : undefined,
      ...more && last && this.#hides(page) &&
        { shown: JSON.parse(this.#whole(last, query).toString()) },
      more,
    };
  }

  async one(stored: Buffer, query: StoredQuery): Promise<Buffer | undefined> {
    const passed = await this.#pass(stored);
    return passed && await this.#concat([passed], query);
  }

  async #fill(page: PageRead, queryOf: (page: PageRead) => StoredQuery) {
    const read: Buffer[] = [];
    const kept = await fillPage<Buffer, Passed>({
      page,
      list: (part) => this.#stored(queryOf(part), part),
      show: (stored) => {
        if (page.skip === 0) read.push(stored);
        return this.#pass(stored);
      },
      endOf: (index) => pageEnd(read[index], page),
      isOver: () => this.#hooks.isOver(),
      hasRest: true,
      leavesOut: true,
    });
    return kept.map(({ value }) => value);
  }

  async *#stored(query: StoredQuery, page?: PageRead): AsyncGenerator<readonly Buffer[]> {
    const batches = page === undefined
      ? this.#reader.longList(query, this.#timeBudget)
      : this.#reader.batches(query, this.#timeBudget);
    for await (const batch of batches) {
      if (this.#hooks.isOver()) return;
      yield documentsIn(batch);
    }
  }

  async *#passedBatches(query: StoredQuery): AsyncGenerator<readonly Passed[]> {
    const { options } = query;
    const read = this.#finder === undefined
      ? query
      : { ...query, options: { ...options, batchSize: POPULATED_AT_ONCE } };
    yield* mapInOrder(this.#stored(read), (stored) => this.#pass(stored));
  }

  #pass(stored: Buffer): MaybePromise<Passed | undefined> {
    const effect = this.#hooks.pass((names) => this.#reader.named(names).read(stored));
    return andThen(effect, (passed) => passed && { stored, leftOut: passed.leftOut });
  }

  async #concat(passed: readonly Passed[], query: StoredQuery): Promise<Buffer> {
    const { separator = "," } = query;
    if (this.#finder === undefined) {
      const writer = this.#writer(query, []);
      if (passed.every(({ leftOut }) => leftOut.length === 0)) {
        return writer.concat(passed.map(({ stored }) => stored), separator);
      }
      const all = passed.map(({ stored, leftOut }) => {
        return { stored, writer: leftOut.length === 0 ? writer : this.#writer(query, leftOut) };
      });
      return writer.joinedBy(all, separator);
    }
    const texts = await this.#texts(passed, query);
    const between = Buffer.from(separator);
    return Buffer.concat(texts.flatMap((text, index) => index === 0 ? [text] : [between, text]));
  }

  async #texts(passed: readonly Passed[], query: StoredQuery): Promise<readonly Buffer[]> {
    const finder = this.#finder;
    if (finder === undefined) {
      return passed.map(({ stored, leftOut }) => this.#writer(query, leftOut).concat([stored]));
    }
    const marked = passed.map(({ stored, leftOut }) =>
      writeMarked([stored], { writer: this.#writer(query, leftOut), names: finder.names })
    );
    const targets = await this.#timeBudget.waitForNext(finder.find(wantedIn(marked, finder)));
    return marked.map((each) => Buffer.concat([...fillMarked(each, targets)]));
  }

  /** A cursor must not have a sort value that a hook may leave out. */
  #hides({ paths }: PageRead): boolean {
    return paths.some((path) => this.#hooks.leavesOut.includes(topOf(path)));
  }

  /** The cursor may contain all sort values that the reader may see, whatever the client selects. */
  #whole({ stored, leftOut }: Passed, { whole }: StoredQuery): Buffer {
    return this.#writer({ projection: whole ?? {} }, leftOut).concat([stored]);
  }

  #writer(query: Pick<StoredQuery, "projection">, leftOut: readonly string[]) {
    return this.#reader.writerFor(query, leftOut);
  }
}
