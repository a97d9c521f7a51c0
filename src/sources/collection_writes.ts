import type { ClientSession, Document, Model, mongo } from "mongoose";
import { withConditions } from "../filter/cast_filter.ts";
import { everyFilter, KEEP_CONDITIONS } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { sendWith } from "../schema/mongoose/statements/send_with.ts";
import type { Statement } from "../schema/mongoose/statements/send_with.ts";
import { removeDocument } from "../write/save/remove_document.ts";
import { saveDocument } from "../write/save/save_document.ts";
import type { SaveDocumentOptions } from "../write/save/save_document.ts";
import type { OpenCollection } from "./direct/direct_plan.ts";

/** Runs a write together with others; it may be called more than once. */
export type Together = NonNullable<SaveDocumentOptions["together"]>;

export interface CollectionWritesOptions extends Pick<OpenCollection, "selection" | "timeBudget"> {
  /** Gives the model on the request's connection, when it is first needed. */
  readonly model: () => Promise<Model<unknown>>;
}

export interface RemoveManyOptions {
  readonly together?: Together;
  /** What must still hold of them; by default what the request selects. */
  readonly filter?: Filter;
}

/** Writes to a collection, each bound by what the request selects. */
export class CollectionWrites {
  readonly #options: CollectionWritesOptions;

  constructor(options: CollectionWritesOptions) {
    this.#options = options;
  }

  /** Writes a new or changed document; tells whether it shows what is stored. `together` runs an insert with other writes. */
  async store(doc: Document, together?: Together): Promise<boolean> {
    return await saveDocument(doc, { ...this.#writeConditions(), ...together && { together } });
  }

  /** Removes a document that was read, through its own middleware. */
  async remove(doc: Document, together?: Together): Promise<void> {
    await removeDocument(doc, { ...this.#writeConditions(), ...together && { together } });
  }

  /** Removes what is known by its identifiers, as far as it is still selected and the scope allows. */
  async removeMany(
    ids: readonly unknown[],
    { together, filter = this.#options.selection.filter }: RemoveManyOptions = {},
  ): Promise<void> {
    const { collation, statementOptions, scope } = this.#writeConditions();
    const options = { ...KEEP_CONDITIONS, ...collation && { collation } };
    const model = await this.#options.model();
    const query = model.deleteMany({}, options as never);
    withConditions(query, everyFilter({ _id: { $in: ids } }, filter, scope));
    const send = async (statement: Statement) => {
      let result: mongo.DeleteResult | undefined;
      const remove = async (session?: ClientSession) => {
        result = await statement(statementOptions(session));
      };
      await (together === undefined ? remove() : together(remove));
      return result as mongo.DeleteResult;
    };
    await sendWith(query as never, { name: "deleteMany", send });
  }

  /** Removes all that conditions select, in one statement. */
  async removeAll(conditions: Filter, options: Record<string, unknown>): Promise<void> {
    const model = await this.#options.model();
    const { signal, maxTimeMS } = this.#options.timeBudget.statement();
    const most = Math.min(Number(options.maxTimeMS) || maxTimeMS, maxTimeMS);
    const query = model.deleteMany({}, { ...options, signal, maxTimeMS: most });
    await withConditions(query, conditions).exec();
  }

  #writeConditions(): Pick<
    SaveDocumentOptions,
    "scope" | "filter" | "collation" | "statementOptions"
  > {
    const { selection, timeBudget } = this.#options;
    const { scope, filter, version = {}, options: { collation } } = selection;
    return {
      scope,
      filter: everyFilter(filter, version),
      collation: collation as object | undefined,
      statementOptions: (session) => timeBudget.statement(session),
    };
  }
}
