import type { ClientSession, Document, Model } from "mongoose";
import { castFilter } from "../../filter/cast_filter.ts";
import { isEmpty } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { setLastCheck } from "../../schema/mongoose/statements/last_before_save.ts";
import { saveWith } from "../../schema/mongoose/statements/save_with.ts";
import type { SavedChanges, SaveStatements } from "../../schema/mongoose/statements/save_with.ts";
import { judgeScope, judgeValues } from "../judge_scope.ts";
import { countVersion } from "./count_version.ts";
import type { UpdateConditions } from "./document_statement.ts";
import { DocumentUpdate } from "./document_update.ts";
import { takeFreshObjects } from "./fresh_objects.ts";
import type { FreshObject } from "./fresh_objects.ts";

export interface SaveDocumentOptions extends UpdateConditions {
  /** The collation that the filter was read with. */
  readonly collation?: object | undefined;
  /** Gives the options of a statement, right before it is sent. */
  readonly statementOptions: (session?: ClientSession) => object;
  /** Runs an insert or a removal together with other writes; it may be called more than once. */
  readonly together?: (write: (session?: ClientSession) => Promise<void>) => Promise<void>;
}

/**
 * Saves a document: validation and middleware run once, only what changed is written, the version goes up, and scope and
 * filter are part of the statement.
 *
 * @returns Whether the document tells what is stored; otherwise it was merged into what another request has written.
 * @throws {RestError} 403 if the document would be outside the scope.
 */
export async function saveDocument(
  doc: Document,
  options: SaveDocumentOptions,
): Promise<boolean> {
  const save = new DocumentSave(doc, options);
  const settleVersion = doc.isNew ? undefined : countVersion(doc);
  if (!await saveWith(doc, save)) await save.byMongoose();
  settleVersion?.();
  return !save.isMerged;
}

class DocumentSave implements SaveStatements {
  isMerged = false;
  readonly #doc: Document;
  readonly #model: Model<unknown>;
  readonly #options: SaveDocumentOptions;
  #objects: readonly FreshObject[] = [];

  constructor(doc: Document, options: SaveDocumentOptions) {
    this.#doc = doc;
    this.#model = doc.constructor as Model<unknown>;
    const cast = (filter: Filter) => castFilter(this.#model, filter);
    this.#options = { ...options, scope: cast(options.scope), filter: cast(options.filter) };
  }

  prepare(): void {
    this.#objects = takeFreshObjects(this.#doc);
  }

  async insert(values: Filter, given: object): Promise<void> {
    const { scope, statementOptions } = this.#options;
    if (!isEmpty(scope)) await judgeValues(values, scope, { connection: this.#doc.db });
    await this.#together(async (session) => {
      await this.#model.collection.insertOne(values as never, {
        ...given,
        ...statementOptions(session),
      });
    });
  }

  async update(changes: SavedChanges, given: object): Promise<number> {
    const { collation, ...options } = this.#options;
    const update = new DocumentUpdate(this.#doc, {
      ...options,
      changes,
      objects: this.#objects,
      given: { ...given, ...collation && { collation } },
    });
    const met = await update.run();
    this.isMerged = update.isMerged;
    return met;
  }

  /** For versions of Mongoose whose way of writing is not known: nothing is repeated. */
  async byMongoose(): Promise<void> {
    const doc = this.#doc;
    const { scope, filter } = this.#options;
    if (!isEmpty(scope)) setLastCheck(doc, () => judgeScope(doc, scope));
    const all = [scope, filter].filter((each) => !isEmpty(each));
    if (all.length > 0 && !doc.isNew) doc.$where = { $and: all };
    const save = async (session?: ClientSession) => {
      await doc.save(session && { session });
    };
    await (doc.isNew ? this.#together(save) : save());
  }

  async #together(write: (session?: ClientSession) => Promise<void>): Promise<void> {
    const { together } = this.#options;
    await (together === undefined ? write() : together(write));
  }
}
