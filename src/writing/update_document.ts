import type { ClientSession, Document, Model, Schema } from "mongoose";
import { rawValues } from "../mapper/internals.ts";
import { keptValues } from "../mapper/find_kept.ts";
import type { SavedChanges } from "../mapper/save_with.ts";
import type { Filter } from "../query/compile_filter.ts";
import { fieldsRead, topOf } from "../selection/fields_read.ts";
import { isEmpty } from "../selection/filters.ts";
import { describeShape } from "../shape/shape.ts";
import { applyUpdate } from "./apply_update.ts";
import type { StoredObject, Update } from "./apply_update.ts";
import { isRemembered } from "./array_versions.ts";
import { judgeScope, judgeValues } from "./judge_scope.ts";
import { pin, valueAt } from "./pin.ts";
import { storedText } from "./stored_text.ts";
import { touchedArrays } from "./touched_arrays.ts";

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

  constructor(
    { doc, changes }: { readonly doc: Document; readonly changes: SavedChanges },
    { conditions, options }: {
      readonly conditions: UpdateConditions;
      readonly options: StatementOptions;
    },
  ) {
    this.#doc = doc;
    this.#changes = changes;
    this.#conditions = conditions;
    this.#options = options;
    this.#arrays = touchedArrays(changes.update, describeShape(doc.schema as Schema));
  }

  /**
   * Runs the update.
   *
   * @returns How many documents it met: none if the document is gone, or was changed in a way that it cannot follow.
   * @throws {RestError} 403 if the document would be outside the scope.
   */
  async run(): Promise<number> {
    let stored = await this.#original();
    if (stored === null) return 0;
    for (let tries = 1;; tries++) {
      const attempt = await this.#attempt(stored);
      if (await this.#send(attempt)) return 1;
      if (!attempt.repeatable || tries === MOST_TRIES) return 0;
      const next = await this.#read();
      if (next === null || this.#clashes(stored, next)) return 0;
      stored = next;
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
    const isSame = (path: string) => isRemembered(this.#doc, path, stored);
    return this.#arrays.every(isSame) ? stored : null;
  }

  async #attempt(stored: StoredObject | undefined): Promise<Attempt> {
    const { update } = this.#changes;
    if (stored === undefined) return { ...this.#counted(update, undefined), repeatable: false };
    const judged = this.#isJudged(update) ? await this.#judge(stored, update) : [];
    const pins = [...this.#arrays, ...judged ?? []].map((path) => pin(stored, path));
    const exact = judged !== undefined && pins.every((each) => each !== undefined);
    const { conditions, ...counted } = this.#counted(update, stored);
    const key = versionKey(this.#doc);
    const version = exact || key === undefined ? [] : [{ [key]: stored[key] ?? null }];
    return {
      ...counted,
      conditions: [...pins.filter((each) => each !== undefined), ...version, ...conditions],
      repeatable: !exact || judged.length > 0,
    };
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

  /** Counts the version up. One that is `null` cannot be counted, and one that is missing cannot be named. */
  #counted(update: Update, stored: StoredObject | undefined): Omit<Attempt, "repeatable"> {
    const key = versionKey(this.#doc);
    if (key === undefined) return { update, conditions: [] };
    const version = (stored ?? rawValues(this.#doc))[key];
    const [operator, conditions] = version === null
      ? ["$set", [{ [key]: null }]]
      : ["$inc", version === undefined && this.#changes.bound ? [{ [key]: null }] : []];
    const others = without(update, key);
    return { update: { ...others, [operator]: { ...others[operator], [key]: 1 } }, conditions };
  }

  async #send({ update, conditions }: Attempt): Promise<boolean> {
    const { acknowledged, matchedCount } = await this.#model.collection.updateOne(
      this.#filter(conditions),
      update as never,
      { ...this.#options.given, ...this.#options.bounds() },
    );
    return !acknowledged || matchedCount > 0;
  }

  async #read(): Promise<StoredObject | null> {
    const { session } = this.#options.given as { session?: ClientSession };
    const options = this.#options.bounds(session);
    return await this.#model.collection.findOne(this.#filter([]), options);
  }

  /** Whether an array that the update replaces was changed meanwhile. */
  #clashes(before: StoredObject | undefined, now: StoredObject): boolean {
    return this.#arrays.some((path) =>
      storedText(valueAt(before, path)) !== storedText(valueAt(now, path))
    );
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

/** An update but for one path. */
function without(update: Update, path: string): Update {
  const rest = Object.entries(update).map(([operator, paths]) => {
    const { [path]: _left, ...others } = paths;
    return [operator, others] as const;
  });
  return Object.fromEntries(rest.filter(([, paths]) => Object.keys(paths).length > 0));
}

function versionKey(doc: Document): string | undefined {
  const key = doc.schema.get("versionKey") as string | false | undefined;
  return typeof key === "string" ? key : undefined;
}
