import type { Document, Schema } from "mongoose";
import { rawValues } from "../../schema/mongoose/documents/raw_values.ts";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import type { SavedChanges } from "../../schema/mongoose/statements/save_with.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasOneOf } from "../../filter/versions.ts";
import { asVersion } from "../../schema/fields/version.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { fieldsRead, topOf } from "../../filter/fields_read.ts";
import { isEmpty } from "../../filter/filters.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { applyUpdate, writtenPaths } from "../apply_update.ts";
import type { Update } from "../../schema/mongoose/statements/write_as_is.ts";
import type { StoredObject } from "../apply_update.ts";
import { hasOddVersion } from "../../schema/mongoose/schemas/odd_versions.ts";
import { countUpdate, versionKey } from "./count_version.ts";
import { DocumentStatement } from "./document_statement.ts";
import type { StatementOptions } from "./document_statement.ts";
import { mergeFresh } from "./fresh_objects.ts";
import type { FreshObject, PlannedUpdate } from "./fresh_objects.ts";
import { judgeScope, judgeValues } from "../judge_scope.ts";
import { valueAt } from "../stored_values.ts";
import { pin } from "./pin.ts";
import { areUnchanged, isRemembered, replacedArrays } from "./replaced_arrays.ts";

/** How often an update is tried when others change what it depends on. */
export const MAX_ATTEMPTS = 20;

interface Attempt extends PlannedUpdate {
  /** The arrays that it replaces, or of which it names positions. */
  readonly arrays: readonly string[];
  /** Whether another attempt may succeed where this one met nothing. */
  readonly repeatable: boolean;
}

export interface DocumentUpdateOptions extends StatementOptions {
  readonly objects: readonly FreshObject[];
}

/** The update of a document: one statement with all its conditions, repeated without middleware where that may help. */
export class DocumentUpdate {
  readonly #doc: Document;
  readonly #changes: SavedChanges;
  readonly #scope: Filter;
  readonly #statement: DocumentStatement;
  #objects: readonly FreshObject[];
  #isMerged = false;

  constructor(doc: Document, options: DocumentUpdateOptions) {
    const { changes, scope, objects } = options;
    this.#doc = doc;
    this.#changes = changes;
    this.#scope = scope;
    this.#statement = new DocumentStatement(doc, options);
    this.#objects = objects.filter(({ path }) => Object.hasOwn(changes.update.$set ?? {}, path));
  }

  /** Whether the update was merged into objects of another request. */
  get isMerged(): boolean {
    return this.#isMerged;
  }

  /** Gives how many documents it met: none if the document is gone, or was changed in a way that it cannot follow. */
  async run(): Promise<number> {
    const original = await this.#original();
    if (original === null) return 0;
    // A hook may have replaced an object that is there.
    this.#objects = this.#objects.filter(({ path }) => !isJsonObject(valueAt(original, path)));
    let stored = original;
    for (let tries = 1;; tries++) {
      const attempt = await this.#attempt(stored);
      if (!areUnchanged(attempt.arrays, { before: original, now: stored })) return 0;
      if (await this.#statement.send(attempt)) return 1;
      if (!attempt.repeatable || tries === MAX_ATTEMPTS) return 0;
      const next = await this.#statement.read();
      if (next === null) return 0;
      stored = next;
      this.#isMerged = this.#objects.length > 0;
    }
  }

  /** What was stored when the document was read; `undefined` where it does not matter, `null` where it is gone. */
  async #original(): Promise<StoredObject | undefined | null> {
    const kept = keptValues(this.#doc);
    if (kept !== undefined) return kept;
    // A hook has read the document: it may be outside already.
    if (!isEmpty(this.#scope)) await judgeScope(this.#doc, this.#scope);
    const arrays = this.#arraysIn(this.#changes.update);
    if (arrays.length === 0 && !this.#isJudged(this.#changes.update)) return undefined;
    const stored = await this.#statement.read();
    if (stored === null) return null;
    const key = versionKey(this.#doc);
    // Without a version only arrays can be compared, and Mongoose may read the same array differently each time.
    if (key === undefined || stored[key] === rawValues(this.#doc)[key]) return stored;
    return arrays.every((path) => isRemembered(this.#doc, { path, stored })) ? stored : null;
  }

  async #attempt(stored: StoredObject | undefined): Promise<Attempt> {
    const planned = mergeFresh(this.#changes.update, { objects: this.#objects, stored });
    const arrays = stored === undefined ? [] : this.#arraysIn(planned.update);
    const judged = stored !== undefined && this.#isJudged(planned.update)
      ? await this.#judge(stored, planned.update)
      : [];
    const pins = [...arrays, ...judged ?? []].map((path) => pin(stored ?? {}, path));
    const isExact = judged !== undefined && pins.every((each) => each !== undefined);
    const key = versionKey(this.#doc);
    const counted = countUpdate(planned.update, {
      key,
      version: key && this.#versionIn(stored, key),
    });
    const version = isExact || key === undefined ? [] : [hasOneOf(key, [asVersion(stored?.[key])])];
    const known = pins.filter((each) => each !== undefined);
    return {
      update: counted.update,
      conditions: [...known, ...version, ...planned.conditions, ...counted.conditions],
      arrays,
      repeatable: !isExact || judged.length > 0 || this.#objects.length > 0 ||
        counted.conditions.length > 0,
    };
  }

  /** What is stored as the version; `null` for what a document could not be told. */
  #versionIn(stored: StoredObject | undefined, key: string): unknown {
    if (stored !== undefined) return stored[key];
    return hasOddVersion(this.#doc) ? null : rawValues(this.#doc)[key];
  }

  #arraysIn(update: Update): string[] {
    return replacedArrays(update, describeShape(this.#doc.schema as Schema));
  }

  /** Whether an update changes what the scope reads. The condition covers the rest. */
  #isJudged(update: Update): boolean {
    if (isEmpty(this.#scope)) return false;
    const read = fieldsRead(this.#scope);
    return read === undefined || writtenPaths(update).some((path) => read.has(topOf(path)));
  }

  /** Checks the result against the scope; gives the paths that this depends on, `undefined` for all. */
  async #judge(stored: StoredObject, update: Update): Promise<string[] | undefined> {
    const values = applyUpdate(stored, { update, elements: {} });
    await judgeValues(values, this.#scope, { connection: this.#doc.db });
    const read = fieldsRead(this.#scope);
    return read && [...read].filter((path) => !Object.hasOwn(update.$set ?? {}, path));
  }
}
