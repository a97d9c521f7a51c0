import mongoose from "mongoose";
import type { Model } from "mongoose";
import { toJson } from "../../json/to_json.ts";
import type { Patience } from "../../database/patience.ts";
import { jsonReader } from "./reads/json_reader.ts";
import type { JsonQuery, JsonReader } from "./reads/json_reader.ts";
import { isShareable, readShared } from "./reads/shared_reads.ts";
import { flatEntity } from "./writes/flat_entity.ts";
import { flatFields } from "./writes/flat_fields.ts";
import { patchStored } from "./writes/patch_stored.ts";
import { removesPlainly, writesPlainly } from "./writes/writes_plainly.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS } from "../../filter/filters.ts";
import { isNarrowed } from "../../filter/projection/projection_of.ts";
import { readOptions, withoutPage } from "../../filter/read_options.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { Inserted } from "../source.ts";
import type { Selection } from "../../filter/selection.ts";

/** What a {@linkcode PlainCollection} is made of. */
export interface PlainCollectionOptions {
  /** Mongoose's model. */
  readonly model: Model<unknown>;
  /** The shape of its schema. */
  readonly shape: Shape;
  /** What to select. */
  readonly selection: Selection;
  /** Bounds the waits. */
  readonly patience: Patience;
  /** The time that the database itself may take. */
  readonly maxTimeMS: number;
  /** What hooks, scopes and the place of the route ask for. */
  readonly conditions: Filter;
}

/** A query without documents, and who runs it. */
interface Reading {
  readonly reader: JsonReader;
  readonly query: JsonQuery;
}

/**
 * A collection that is read and written without documents. Whatever would be more than that with one is `undefined`, and
 * nothing has happened.
 */
export class PlainCollection {
  readonly #options: PlainCollectionOptions;

  constructor(options: PlainCollectionOptions) {
    this.#options = options;
  }

  /** Reads all that is selected as JSON text, pieces of one entity or several. */
  listJson(): AsyncIterable<Uint8Array> | undefined {
    const reading = this.#open(this.#readOptions());
    return reading?.reader.read(reading.query, this.#options.patience);
  }

  /** Reads all that is selected as values, several at a time. */
  listValues(): AsyncIterable<readonly object[]> | undefined {
    const { lean: _lean, ...options } = this.#readOptions();
    const reading = this.#open(options);
    return reading?.reader.values(reading.query, this.#options.patience);
  }

  /** Reads the one that a condition names as JSON text; `null` where there is none. */
  async oneJson(name: Filter): Promise<Uint8Array | null | undefined> {
    const { model, patience } = this.#options;
    const reading = this.#open(withoutPage(this.#readOptions()));
    if (reading === undefined) return undefined;
    const { reader, query } = reading;
    const naming = castFilter(model, name);
    if (naming._id instanceof mongoose.Types.ObjectId && isShareable(query)) {
      return await patience.wait(readShared(reader, naming._id, query));
    }
    const conditions = everyFilter(naming, query.conditions);
    for await (const text of reader.read({ ...query, conditions }, patience)) return text;
    return null;
  }

  /** Stores a new entity in one statement. */
  async insert(body: JsonObject): Promise<Inserted | undefined> {
    const { model, patience, shape } = this.#options;
    if (!this.#isWhole() || jsonReader(model, shape) === undefined) return undefined;
    const entity = flatEntity(model, body, shape);
    if (entity === undefined) return undefined;
    await patience.wait(model.collection.insertOne(entity, patience.statement()));
    return { text: toJson(entity, shape), id: String(entity._id) };
  }

  /** Changes the one that a condition names in one statement; gives its JSON text, `null` where there is none. */
  async patch(name: Filter, body: JsonObject): Promise<string | Uint8Array | null | undefined> {
    const { model, patience, shape } = this.#options;
    if (!this.#isWhole() || !writesPlainly(model, shape) || setsArray(body, shape)) {
      return undefined;
    }
    const changes = flatFields(body, shape);
    if (changes === undefined) return undefined;
    const reader = jsonReader(model, shape);
    const conditions = castFilter(model, this.#conditionsFor(name));
    const patch = { conditions, changes, statement: patience.statement() };
    const stored = await patience.wait(patchStored(model, patch));
    if (stored === null || stored === undefined) return stored;
    return reader?.text(stored) ?? toJson(model.hydrate(stored), shape);
  }

  /** Removes the one that a condition names in one statement; tells whether there was one. */
  async remove(name: Filter): Promise<boolean | undefined> {
    const { model, patience, selection } = this.#options;
    if (!isEmpty(selection.options) || !removesPlainly(model)) return undefined;
    const query = model.deleteOne({}, { ...KEEP_CONDITIONS, ...patience.statement() });
    const work = withConditions(query, this.#conditionsFor(name)).exec();
    const { deletedCount } = await patience.wait(work);
    return deletedCount > 0;
  }

  #open(options: Record<string, unknown>): Reading | undefined {
    const { model, shape, selection: { projection }, conditions } = this.#options;
    const reader = jsonReader(model, shape);
    if (!reader?.takes({ projection, options })) return undefined;
    return { reader, query: { conditions: castFilter(model, conditions), options, projection } };
  }

  /** Whether a write has nothing to judge, and its answer shows everything. */
  #isWhole(): boolean {
    const { selection, shape } = this.#options;
    return isEmpty(selection.scope) && isEmpty(selection.options) && !isNarrowed(selection, shape);
  }

  #conditionsFor(name: Filter): Filter {
    return everyFilter(name, this.#options.conditions);
  }

  #readOptions(): Record<string, unknown> {
    return readOptions(this.#options.selection, this.#options.maxTimeMS);
  }
}

/** Whether a body replaces an array: whether another request has changed it meanwhile, only a read before can tell. */
function setsArray(body: JsonObject, shape: Shape): boolean {
  return Object.keys(body).some((name) => shape.fields.get(name)?.kind === "array");
}
