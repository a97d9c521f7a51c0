import mongoose from "mongoose";
import type { ClientSession, Document, Model, Schema } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import { rawValues } from "../../schema/mongoose/internals.ts";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import type { SavedChanges } from "../../schema/mongoose/statements/save_with.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { fieldsRead, topOf } from "../../filter/fields_read.ts";
import { isEmpty } from "../../filter/filters.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { applyUpdate } from "../apply_update.ts";
import type { StoredObject, Update } from "../apply_update.ts";
import { isRemembered } from "./array_versions.ts";
import { countUpdate, versionKey } from "./count_version.ts";
import type { FreshObject } from "./fresh_objects.ts";
import { judgeScope, judgeValues } from "../judge_scope.ts";
import { mergeFresh } from "./merge_fresh.ts";
import { isUnchanged, pin, valueAt } from "./pin.ts";
import { touchedArrays } from "./touched_arrays.ts";

/** The server's code of a path that leads through what is no object. */
const NOT_VIABLE = 28;

/** How often a statement is tried that meets a change of what it depends on. */
const MOST_TRIES = 20;

/** What binds an update, besides what Mongoose says. */
export interface UpdateConditions {
  /** The scope, cast: it holds before and after. */
  readonly scope: Filter;
  /** What the request selects, cast: it holds before. */
  readonly filter: Filter;
}

/** How statements are sent. */
export interface StatementOptions {
  /** The options of Mongoose. */
  readonly given: object;
  /** Gives further options, right before a statement is sent. */
  readonly bounds: (session?: ClientSession) => object;
}

/** One statement: what it writes, and what must hold. */
interface Attempt {
  readonly update: Update;
  readonly conditions: readonly Filter[];
  /** The arrays that it replaces, or of which it names positions. */
  readonly arrays: readonly string[];
  /** Whether another attempt may succeed where this one met nothing. */
  readonly repeatable: boolean;
}

/**
 * The write of a changed document: one statement that says all that must hold. It is repeated, without any middleware,
 * only where it depends on something that another request has changed, and may go on nevertheless.
 */
export class DocumentUpdate {
  readonly #doc: Document;
  readonly #changes: SavedChanges;
  readonly #conditions: UpdateConditions;
  readonly #options: StatementOptions;
  readonly #arrays: readonly string[];
  #objects: readonly FreshObject[];
  #isMerged = false;

  constructor(
    { doc, changes, objects }: {
      readonly doc: Document;
      readonly changes: SavedChanges;
      readonly objects: readonly FreshObject[];
    },
    { conditions, options }: {
      readonly conditions: UpdateConditions;
      readonly options: StatementOptions;
    },
  ) {
    this.#doc = doc;
    this.#changes = changes;
    this.#conditions = conditions;
    this.#options = options;
    this.#objects = objects.filter(({ path }) => Object.hasOwn(changes.update.$set ?? {}, path));
    this.#arrays = this.#arraysIn(changes.update);
  }

  /** Whether the update was merged into objects that another request has created meanwhile. */
  get isMerged(): boolean {
    return this.#isMerged;
  }

  /**
   * Runs the update.
   *
   * @returns How many documents it met: none if the document is gone, or was changed in a way that it cannot follow.
   * @throws {RestError} 403 if the document would be outside the scope.
   */
  async run(): Promise<number> {
    const original = await this.#original();
    if (original === null) return 0;
    // A hook may have replaced an object that is there.
    this.#objects = this.#objects.filter(({ path }) => !isJsonObject(valueAt(original, path)));
    let stored = original;
    for (let tries = 1;; tries++) {
      const attempt = await this.#attempt(stored);
      if (attempt.arrays.some((path) => !isUnchanged(path, original, stored))) return 0;
      if (await this.#send(attempt)) return 1;
      if (!attempt.repeatable || tries === MOST_TRIES) return 0;
      const next = await this.#read();
      if (next === null) return 0;
      stored = next;
      this.#isMerged = this.#objects.length > 0;
    }
  }

  /** What is stored, as far as the update depends on it: as it was read, or, where nobody kept that, as it is now. */
  async #original(): Promise<StoredObject | undefined | null> {
    const { scope } = this.#conditions;
    const kept = keptValues(this.#doc);
    if (kept !== undefined) return kept;
    // A hook has read the document: it may be outside already.
    if (!isEmpty(scope)) await judgeScope(this.#doc, scope);
    if (this.#arrays.length === 0 && !this.#isJudged(this.#changes.update)) return undefined;
    const stored = await this.#read();
    if (stored === null) return null;
    const key = versionKey(this.#doc);
    // Without a version nobody can tell: what Mongoose has made of an array may differ at every read.
    if (key === undefined || stored[key] === rawValues(this.#doc)[key]) return stored;
    return this.#arrays.every((path) => isRemembered(this.#doc, path, stored)) ? stored : null;
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
      version: key && (stored ?? rawValues(this.#doc))[key],
      bound: this.#changes.bound,
    });
    const version = isExact || key === undefined ? [] : [{ [key]: stored?.[key] ?? null }];
    const known = pins.filter((each) => each !== undefined);
    return {
      update: counted.update,
      conditions: [...known, ...version, ...planned.conditions, ...counted.conditions],
      arrays,
      repeatable: !isExact || judged.length > 0 || this.#objects.length > 0,
    };
  }

  #arraysIn(update: Update): string[] {
    return touchedArrays(update, describeShape(this.#doc.schema as Schema));
  }

  /** Whether an update changes what the scope reads: what it leaves alone, the condition before it binds. */
  #isJudged(update: Update): boolean {
    const { scope } = this.#conditions;
    if (isEmpty(scope)) return false;
    const read = fieldsRead(scope);
    return read === undefined || pathsIn(update).some((path) => read.has(topOf(path)));
  }

  /** Judges what the update makes of what is stored; gives the paths that this depends on, `undefined` for all. */
  async #judge(stored: StoredObject, update: Update): Promise<string[] | undefined> {
    const { scope } = this.#conditions;
    const values = applyUpdate(stored, { update, elements: {} });
    await judgeValues(values, scope, { connection: this.#doc.db });
    const read = fieldsRead(scope);
    return read && [...read].filter((path) => !Object.hasOwn(update.$set ?? {}, path));
  }

  async #send({ update, conditions }: Attempt): Promise<boolean> {
    const options = { ...this.#options.given, ...this.#options.bounds() };
    try {
      const { acknowledged, matchedCount } = await this.#model.collection.updateOne(
        this.#filter(conditions),
        update as never,
        options,
      );
      return !acknowledged || matchedCount > 0;
    } catch (error) {
      // Something else stands now where there was an object to write into.
      const { MongoServerError } = mongoose.mongo;
      if (error instanceof MongoServerError && error.code === NOT_VIABLE) throw conflict(error);
      throw error;
    }
  }

  async #read(): Promise<StoredObject | null> {
    const { session } = this.#options.given as { session?: ClientSession };
    const options = this.#options.bounds(session);
    return await this.#model.collection.findOne(this.#filter([]), options);
  }

  /** Joined without `everyFilter`, which would copy the values of the conditions. */
  #filter(conditions: readonly Filter[]): Filter {
    const { where, bound } = this.#changes;
    const { scope, filter } = this.#conditions;
    const { $and, ...named } = where;
    const key = versionKey(this.#doc);
    if (key !== undefined && !bound) delete named[key];
    const joined = [$and === undefined ? {} : { $and }, scope, filter, ...conditions];
    const all = joined.filter((each) => !isEmpty(each));
    // The wrapper keeps a condition on `_id` from taking the place of the document's own.
    return all.length === 0 ? named : { ...named, $and: all };
  }

  get #model(): Model<unknown> {
    return this.#doc.constructor as Model<unknown>;
  }
}

function pathsIn(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}
