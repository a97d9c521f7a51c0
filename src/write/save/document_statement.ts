import mongoose from "mongoose";
import type { ClientSession, Document, Model } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import { isEmpty } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasOneOf } from "../../filter/versions.ts";
import { asVersion } from "../../schema/fields/version.ts";
import type { SavedChanges } from "../../schema/mongoose/statements/save_with.ts";
import type { StoredObject } from "../apply_update.ts";
import { versionKey } from "./count_version.ts";
import type { PlannedUpdate } from "./fresh_objects.ts";

/** What binds a write, besides what Mongoose says. */
export interface UpdateConditions {
  /** The scope: the document is inside it before and after. */
  readonly scope: Filter;
  /** What the request selects: the document matches it before. */
  readonly filter: Filter;
}

/** What a statement is made of; the conditions are cast. */
export interface StatementOptions extends UpdateConditions {
  readonly changes: SavedChanges;
  readonly given: object;
  /** Gives further options, right before a statement is sent. */
  readonly statementOptions: (session?: ClientSession) => object;
}

/** The statement that updates a document, and the read of what it depends on. */
export class DocumentStatement {
  readonly #doc: Document;
  readonly #options: StatementOptions;

  constructor(doc: Document, options: StatementOptions) {
    this.#doc = doc;
    this.#options = options;
  }

  /** Sends an update; `false` if its conditions do not hold. */
  async send({ update, conditions }: PlannedUpdate): Promise<boolean> {
    const { given, statementOptions } = this.#options;
    try {
      const { acknowledged, matchedCount } = await this.#collection.updateOne(
        this.#filter(conditions),
        update as never,
        { ...given, ...statementOptions() },
      );
      return !acknowledged || matchedCount > 0;
    } catch (error) {
      throw isPathRefused(error) ? conflict(error) : error;
    }
  }

  async read(): Promise<StoredObject | null> {
    const { given, statementOptions } = this.#options;
    const { session } = given as { session?: ClientSession };
    return await this.#collection.findOne(this.#filter([]), statementOptions(session));
  }

  /** Joined without `everyFilter`, which would copy the values of the conditions. */
  #filter(conditions: readonly Filter[]): Filter {
    const { changes: { where, isTied }, scope, filter } = this.#options;
    const { $and, ...named } = where;
    const key = versionKey(this.#doc);
    const tied = key !== undefined && isTied ? hasOneOf(key, [asVersion(named[key])]) : {};
    if (key !== undefined) delete named[key];
    const joined = [$and === undefined ? {} : { $and }, tied, scope, filter, ...conditions];
    const all = joined.filter((each) => !isEmpty(each));
    // The wrapper keeps a condition on `_id` from taking the place of the document's own.
    return all.length === 0 ? named : { ...named, $and: all };
  }

  get #collection(): Model<StoredObject>["collection"] {
    return (this.#doc.constructor as Model<StoredObject>).collection;
  }
}

const PATH_NOT_VIABLE = 28;

/** Whether the database refused an update because something else stands now where there was an object. */
export function isPathRefused(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === PATH_NOT_VIABLE;
}
