import type { ClientSession, Document, Model } from "mongoose";
import { withConditions } from "../filter/cast_filter.ts";
import { everyFilter, KEEP_CONDITIONS } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { sendWith } from "../schema/mongoose/statements/send_with.ts";
import { removeDocument, saveDocument } from "../write/save_document.ts";
import type { SaveDocumentOptions } from "../write/save_document.ts";
import type { OpenCollection } from "./direct/direct_plan.ts";

/** Runs a write together with others; it may be called more than once. */
export type Together = NonNullable<SaveDocumentOptions["together"]>;

export interface CollectionWritesOptions extends Pick<OpenCollection, "selection" | "timeBudget"> {
  /** Gives the model on the request's connection, when it is first needed. */
  readonly model: () => Promise<Model<unknown>>;
}

export interface RemoveAllOptions {
  /** The options that hooks have set. */
  readonly options?: Record<string, unknown>;
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

  /** Writes a new or changed document. `together` runs an insert with other writes. */
  async store(doc: Document, together?: Together): Promise<void> {
    await saveDocument(doc, { ...this.#writeConditions(), ...together && { together } });
  }

  /** Removes a document that was read, through its own middleware. */
  async remove(doc: Document, together?: Together): Promise<void> {
    await removeDocument(doc, { ...this.#writeConditions(), ...together && { together } });
  }

  /** Removes what conditions name, as far as it is selected and the scope allows, in one statement. */
  async removeAll(
    named: Filter,
    { together, options = {}, filter = this.#options.selection.filter }: RemoveAllOptions = {},
  ): Promise<void> {
    const { collation, scope, statementOptions } = this.#writeConditions();
    const given = { ...KEEP_CONDITIONS, ...collation && { collation }, ...options };
    const model = await this.#options.model();
    const query = model.deleteMany({}, given as never);
    withConditions(query, everyFilter(named, filter, scope));
    await sendWith(query as never, {
      name: "deleteMany",
      together,
      statementOptions(session) {
        const statement = statementOptions(session);
        const most = Number(options.maxTimeMS) || statement.maxTimeMS;
        return { ...statement, maxTimeMS: Math.min(most, statement.maxTimeMS) };
      },
    });
  }

  #writeConditions() {
    const { selection, timeBudget } = this.#options;
    const { scope, filter, version = {}, options: { collation } } = selection;
    return {
      scope,
      filter: everyFilter(filter, version),
      collation: collation as object | undefined,
      statementOptions: (session?: ClientSession) => timeBudget.statement(session),
    };
  }
}
