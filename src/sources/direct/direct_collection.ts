import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { ClientSession } from "mongoose";
import { inTransaction, turnsIn } from "../../database/in_transaction.ts";
import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import { toJson } from "../../json/to_json.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { numberIn } from "../../json/bytes/bson_reader.ts";
import { insertAll } from "../../write/insert_documents.ts";
import type { FoundPage } from "../source.ts";
import type { StoredEntity } from "./stored_entity.ts";
import { storedIn } from "./stored_writer.ts";
import { readPage } from "./read_page.ts";
import type { Stored } from "./stored_writer.ts";
import type { DirectPlan, NewEntity, OpenCollection, PlanOf } from "./direct_plan.ts";
import { areValid, updateSelected, updateStored } from "./direct_writes.ts";

export interface DirectResult {
  readonly text?: string | Uint8Array;
  /** A list as JSON text in pieces, with separators between entities. */
  readonly texts?: AsyncIterable<JsonPiece>;
  readonly each?: AsyncIterable<readonly Uint8Array[]>;
  readonly version?: Version;
  readonly page?: FoundPage;
  readonly created?: string;
  /** How many entities were changed; only where many may be. */
  readonly affected?: number;
  /** The fates of several new entities; nothing where that needs a document. */
  readonly fates?: readonly (Fate | undefined)[];
}

export interface Fate {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/** A collection that is read and written without documents. */
export class DirectCollection {
  readonly #collection: OpenCollection;

  constructor(collection: OpenCollection) {
    this.#collection = collection;
  }

  entities(
    { reads: { reader }, query, page, forChange }: PlanOf<"all">,
  ): AsyncIterable<readonly StoredEntity[]> {
    const { timeBudget } = this.#collection;
    return reader.entities(query, { timeBudget, page, forChange });
  }

  async entity(plan: PlanOf<"one">): Promise<StoredEntity | null> {
    // Hooks see no version that is read besides.
    const { reads: { reader }, query: { also: _also, ...query }, forChange } = plan;
    const selected = forChange ? query : reader.selected(query);
    const stored = await this.#find({ ...plan, query: selected });
    return stored === undefined ? null : reader.entity(stored, query, forChange);
  }

  /** Runs a plan; `null` where it selects no entity, `undefined` where a document has to say why data is refused. */
  async run(plan: DirectPlan, limit?: number): Promise<DirectResult | null | undefined> {
    switch (plan.operation) {
      case "all": {
        const { page, isApart, query, finder, reads: { reader } } = plan;
        const { timeBudget } = this.#collection;
        if (isApart) return { each: reader.readEach(query, { finder, timeBudget }) };
        if (page === undefined) return { texts: this.#list(plan) };
        const found = await readPage({ ...plan, page }, this.#collection);
        return found && { page: found };
      }
      case "one":
        return await this.#one(plan);
      case "create":
        return await ("entity" in plan ? this.#create(plan) : this.#createMany(plan));
      case "update":
        return await this.#update(plan);
      case "updateAll":
        return await this.#updateAll(plan, limit);
      case "remove":
        return await this.#remove(plan);
    }
  }

  #list({ reads: { reader }, query, finder }: PlanOf<"all">): AsyncIterable<JsonPiece> {
    const { timeBudget } = this.#collection;
    return finder === undefined
      ? reader.read(query, timeBudget)
      : reader.readPopulated(query, { finder, timeBudget });
  }

  async #one(plan: PlanOf<"one">): Promise<DirectResult | null> {
    const { reads: { reader }, query, finder } = plan;
    const stored = await this.#find(plan);
    if (stored === undefined) return null;
    const version = versionIn(stored, query.also?.[0]);
    if (finder === undefined) return { text: reader.writerFor(query).text(stored), version };
    const { timeBudget } = this.#collection;
    return { text: await timeBudget.wait(reader.joined([stored], { finder, ...query })), version };
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

  async #create(
    { entity, minimal }: Extract<DirectPlan, { readonly entity: object }>,
  ): Promise<DirectResult | undefined> {
    const { model, timeBudget, shape } = this.#collection;
    if (!await this.#passesRules(entity, shape.fields)) return undefined;
    await timeBudget.wait(model.collection.insertOne(entity, timeBudget.statement()));
    const made = { created: String(entity._id), version: 0 };
    return minimal ? made : { ...made, text: toJson(entity, shape) };
  }

  async #createMany(
    { entities, isAtomic, minimal }: Extract<DirectPlan, { readonly entities: object }>,
  ): Promise<DirectResult | undefined> {
    const { model, timeBudget, shape } = this.#collection;
    const all: NewEntity[] = [];
    for (const entity of entities) {
      const isRight = entity !== undefined && await this.#passesRules(entity, shape.fields);
      if (isRight) all.push(entity);
      else if (isAtomic) return undefined;
    }
    const insert = (session?: ClientSession) =>
      insertAll(model, {
        all,
        options: { ...timeBudget.statement(session), ordered: isAtomic },
      });
    if (isAtomic) {
      const together = { ...turnsIn(model), timeBudget, isRequired: true };
      await timeBudget.wait(all.length === 1 ? insert() : inTransaction(together, insert));
      return minimal ? {} : { text: `[${all.map((each) => toJson(each, shape)).join()}]` };
    }
    let errors: BulkError["errors"] = new Map();
    try {
      if (all.length > 0) await timeBudget.wait(insert());
    } catch (error) {
      if (!(error instanceof BulkError)) throw error;
      ({ errors } = error);
    }
    const fates = new Map(all.map((entity, index): [NewEntity, Fate] => {
      return [entity, errors.has(index) ? { error: errors.get(index) } : { _id: entity._id }];
    }));
    return { fates: entities.map((entity) => entity && fates.get(entity)) };
  }

  async #update(
    { conditions, changes, replacement, upsert, reads, minimal }: PlanOf<"update">,
  ): Promise<DirectResult | null | undefined> {
    const { model, timeBudget, shape } = this.#collection;
    const changed = [...shape.fields].filter(([name]) =>
      replacement !== undefined || Object.hasOwn(changes, name)
    );
    if (!await this.#passesRules(changes, changed)) return undefined;
    const statement = timeBudget.statement();
    const key = String(model.schema.get("versionKey"));
    const projection = minimal ? { [key]: 1 } : shape.withoutApart;
    const update = { conditions, changes, replacement, upsert, projection, statement };
    const stored = await timeBudget.wait(updateStored(model, update));
    if (stored === null || stored === undefined) return stored;
    const version = versionIn(stored, key);
    const told = { version, ...version === 0 && { created: String(stored._id) } };
    if (minimal) return told;
    return { text: reads?.reader.text(stored) ?? toJson(model.hydrate(stored), shape), ...told };
  }

  async #updateAll(
    { conditions, changes }: PlanOf<"updateAll">,
    limit = Infinity,
  ): Promise<DirectResult | undefined> {
    const { model, timeBudget, shape } = this.#collection;
    const changed = [...shape.fields].filter(([name]) => Object.hasOwn(changes, name));
    if (!await this.#passesRules(changes, changed)) return undefined;
    const affected = await updateSelected(model, { conditions, changes, limit, timeBudget });
    return affected === undefined ? undefined : { affected };
  }

  #passesRules(...given: Parameters<typeof areValid>): MaybePromise<boolean> {
    const valid = areValid(...given);
    return isPromise(valid) ? this.#collection.timeBudget.wait(valid) : valid;
  }

  async #remove({ conditions }: PlanOf<"remove">): Promise<DirectResult | null> {
    const { model, timeBudget } = this.#collection;
    const query = model.deleteOne({}, { ...KEEP_CONDITIONS, ...timeBudget.statement() });
    const removed = await timeBudget.wait(withConditions(query, conditions).exec());
    // With a write concern of 0, MongoDB does not tell.
    return removed.deletedCount > 0 || !removed.acknowledged ? {} : null;
  }
}

function versionIn(stored: Stored, name: string | undefined): Version {
  if (name === undefined) return null;
  return asVersion(
    Buffer.isBuffer(stored) ? numberIn(stored, name) : stored[name as keyof Stored],
  );
}
