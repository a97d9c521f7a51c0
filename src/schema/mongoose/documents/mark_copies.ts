import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";
import { declaredKeys, hasHiddenPaths } from "./hide_in_json.ts";
import { makeDetachedConnection } from "../connections.ts";
import { markOwnMember } from "../schemas/schema_members.ts";

/** What a copy of a document tells of where it comes from. Its fields are private, so that logs do not print them. */
export class CopyMark {
  readonly #schema: Schema;
  readonly #undeclared: ReadonlySet<string>;

  /**
   * @param schema The schema of the document.
   * @param values The values that were copied.
   */
  constructor(schema: Schema, values: object) {
    this.#schema = schema;
    this.#undeclared = undeclaredKeys(schema, values);
  }

  get schema(): Schema {
    return this.#schema;
  }

  /** The keys of the copy that the schema does not declare. */
  get undeclared(): ReadonlySet<string> {
    return this.#undeclared;
  }
}

const NONE: ReadonlySet<string> = new Set();

function undeclaredKeys(schema: Schema, values: object): ReadonlySet<string> {
  if (schema.get("strict") === false) return NONE;
  const declared = declaredKeys(schema);
  const keys = Object.keys(values).filter((key) => !declared.has(key));
  return keys.length === 0 ? NONE : new Set(keys);
}

/** A copy carries its mark through a spread and `Object.assign()`; JSON and the database do not see it. */
const MARK: unique symbol = Symbol("mongrove.copy");

const TELL = "$tellSchema";

/**
 * Makes copies of a schema's documents tell where they come from: what `toObject()` gives, and `{ ...document }`. A hook that
 * returns such a copy, alone or inside of an object of its own, would otherwise show hidden fields, such as the hash of a
 * password, and what other programs have stored.
 */
export function markCopies(schema: Schema): void {
  const own = schema.methods.toObject as ToObject | undefined;
  const toObject = function (this: Document, ...args: unknown[]): object {
    const copy = (own ?? mongoose.Document.prototype.toObject as ToObject).apply(this, args);
    return isRecord(copy) ? mark(copy, this.schema as Schema) : copy;
  };
  const tellSchema = function (this: Document): void {
    // A spread takes this object along, not the prototype.
    const { $__: inside } = this as unknown as { $__: { [MARK]?: Schema } };
    inside[MARK] = this.schema as Schema;
  };
  if (own === undefined) markOwnMember(toObject);
  markOwnMember(tellSchema);
  const silent = { suppressWarning: true } as never;
  schema.method("toObject", toObject as never, silent);
  schema.method(TELL, tellSchema as never, silent);
  schema.queue(TELL, []);
}

type ToObject = (this: Document, ...args: unknown[]) => object;

function isRecord(value: unknown): value is Marked {
  return typeof value === "object" && value !== null;
}

interface Marked {
  [MARK]?: CopyMark;
}

function mark(copy: Marked, schema: Schema): object {
  const made = new CopyMark(schema, copy);
  if (made.undeclared.size > 0 || hasHiddenPaths(schema)) copy[MARK] = made;
  return copy;
}

/** Gives the mark of a copy that `toObject()` has made, or of a copy of that. */
export function markOf(value: object): CopyMark | undefined {
  return (value as Marked)[MARK];
}

export interface Spread {
  readonly stored: object;
  readonly added: object;
  readonly mark: CopyMark | undefined;
}

/** Members that Mongoose's documents own, besides their values. */
const INSIDE = /^(\$|_doc$|__parentArray$|__index$)/;

/** Reads `{ ...document }`; `undefined` for anything else. */
export function spreadOf(value: object): Spread | undefined {
  const { $__: inside, _doc: stored } = value as { $__?: unknown; _doc?: unknown };
  if (inside === undefined || typeof stored !== "object" || stored === null) return undefined;
  const { [MARK]: schema } = Object(inside) as { [MARK]?: Schema };
  return {
    stored,
    added: Object.fromEntries(Object.entries(value).filter(([key]) => !INSIDE.test(key))),
    mark: schema && new CopyMark(schema, stored),
  };
}
