import type { ClientSession, Document, Model } from "mongoose";
import { setLastCheck } from "../../schema/mongoose/statements/last_before_save.ts";
import { saveWith } from "../../schema/mongoose/statements/save_with.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { isEmpty } from "../../filter/filters.ts";
import { countVersion } from "./count_version.ts";
import { takeFreshObjects } from "./fresh_objects.ts";
import type { FreshObject } from "./fresh_objects.ts";
import { judgeScope, judgeValues } from "../judge_scope.ts";
import { DocumentUpdate } from "./update_document.ts";
import type { UpdateConditions } from "./update_document.ts";

/** How a document is saved. */
export interface SaveDocumentOptions {
  /** The scope: the document is inside it before and after. */
  readonly scope: Filter;
  /** What the request selects: a document that is changed still matches it. */
  readonly filter: Filter;
  /** The collation that the filter was read with. */
  readonly collation?: object | undefined;
  /** Gives the options of a statement, right before it is sent. */
  readonly bounds: (session?: ClientSession) => object;
  /** Runs the insert of a new document together with other writes; it may be called more than once. */
  readonly together?: (insert: (session?: ClientSession) => Promise<void>) => Promise<void>;
}

/**
 * Saves a new or changed document: validation and middleware run once, only what changed is written, the version goes
 * up, and scope and filter are part of the statement.
 *
 * @returns Whether the document tells what is stored; otherwise it was merged into what another request has written.
 * @throws {RestError} 403 if the document would be outside the scope.
 */
export async function saveDocument(
  doc: Document,
  options: SaveDocumentOptions,
): Promise<boolean> {
  const model = doc.constructor as Model<unknown>;
  const conditions = {
    scope: castFilter(model, options.scope),
    filter: castFilter(model, options.filter),
  };
  const { bounds, collation } = options;
  const settleVersion = doc.isNew ? undefined : countVersion(doc);
  let objects: readonly FreshObject[] = [];
  let isMerged = false;
  const saved = await saveWith(doc, {
    prepare() {
      objects = takeFreshObjects(doc);
    },
    insert: (values, given) =>
      insertValues(doc, { values, given, scope: conditions.scope, options }),
    async update(changes, given) {
      const update = new DocumentUpdate({ doc, changes, objects }, {
        conditions,
        options: { given: { ...given, ...collation && { collation } }, bounds },
      });
      const met = await update.run();
      isMerged = update.isMerged;
      return met;
    },
  });
  if (!saved) await saveByMongoose(doc, conditions, options);
  settleVersion?.();
  return !isMerged;
}

/** An insert on its way. */
interface Insert {
  readonly values: Filter;
  /** The options of Mongoose. */
  readonly given: object;
  readonly scope: Filter;
  readonly options: SaveDocumentOptions;
}

async function insertValues(
  doc: Document,
  { values, given, scope, options: { together, bounds } }: Insert,
): Promise<void> {
  const { collection } = doc.constructor as Model<unknown>;
  if (!isEmpty(scope)) await judgeValues(values, scope, { connection: doc.db });
  const insert = async (session?: ClientSession) => {
    await collection.insertOne(values as never, { ...given, ...bounds(session) });
  };
  await (together === undefined ? insert() : together(insert));
}

/** For versions of Mongoose that write in a way that is not known here: nothing is repeated. */
async function saveByMongoose(
  doc: Document,
  { scope, filter }: UpdateConditions,
  { together }: SaveDocumentOptions,
): Promise<void> {
  if (!isEmpty(scope)) setLastCheck(doc, () => judgeScope(doc, scope));
  const all = [scope, filter].filter((each) => !isEmpty(each));
  if (all.length > 0 && !doc.isNew) doc.$where = { $and: all };
  const save = async (session?: ClientSession) => {
    await doc.save(session && { session });
  };
  await (together === undefined || !doc.isNew ? save() : together(save));
}
