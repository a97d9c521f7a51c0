import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";
import { isJsonObject } from "../../fields/json.ts";
import { memoize } from "../../memoize.ts";
import { isDocument } from "../bson.ts";
import { markOwn } from "../schemas/schema_members.ts";
import { rawValues } from "./document_values.ts";
import { schemaKeys } from "./hide_in_json.ts";

export interface CopyMark {
  readonly schema: Schema;
  /**
   * The keys in a copy of a document that the schema of the document does not declare, such as data of other programs.
   * A response leaves out these keys.
   */
  readonly undeclared: ReadonlySet<string>;
}

/**
 * The key under which a copy of a document holds its schema (mark), by which JSON hides fields. A spread and
 * `Object.assign()` copy a symbol, so the mark is not lost. JSON and the database ignore a symbol.
 */
const MARK: unique symbol = Symbol("mongrove.copy");

interface MarkedCopy {
  /**
   * Returns the schema and the undeclared keys of a copy of a document (mark), by which a response hides fields of the
   * copy. The mark is behind a function, so that logs do not print the schema.
   */
  [MARK]?: () => CopyMark;
}

type Copy = (this: Document, ...args: unknown[]) => object;

const MARK_SCHEMA = "$markSchema";

/**
 * The document methods that return copies, with the function that stores the schema in each copy, so that a response
 * can hide fields of the copy.
 */
const COPIES: Readonly<Record<string, (copy: object, schema: Schema) => void>> = {
  toObject: markCopy,
  $clone(copy, schema) {
    // A `$clone()` of the application may return any value. Only a document has stored values that can hold the schema,
    // so other values are not changed.
    if (isDocument(copy)) markValues(copy, schema);
  },
};

/**
 * Marks copies of a schema's documents with their schema. Copies are the results of `toObject()` and `$clone()`, and
 * `{ ...document }`.
 *
 * A hook may return such a copy, alone or inside another object. Without the mark, the response would show hidden
 * fields, such as the hash of a password, and undeclared data that other programs have stored.
 */
export function markCopies(schema: Schema): void {
  // A discriminator inherits the methods of its base, so copies of its documents already hold their schema, by which a
  // response hides fields.
  if (MARK_SCHEMA in schema.methods) return;
  const silent = { suppressWarning: true } as never;
  for (const [name, mark] of Object.entries(COPIES)) {
    const own = schema.methods[name] as Copy | undefined;
    const copyOf = function (this: Document, ...args: unknown[]): object {
      const original = own ?? Reflect.get(mongoose.Document.prototype, name) as Copy;
      const copy = original.apply(this, args);
      if (Object(copy) === copy) mark(copy, this.schema as Schema);
      return copy;
    };
    if (own === undefined) markOwn(copyOf);
    schema.method(name, copyOf as never, silent);
  }
  const markSchema = markOwn(function (this: Document): void {
    markValues(this, this.schema as Schema);
  });
  schema.method(MARK_SCHEMA, markSchema as never, silent);
  schema.queue(MARK_SCHEMA, []);
}

/**
 * Returns the methods that mark copies of documents with their schema, so that JSON hides fields of the copies. A class
 * that Mongoose generated from the schema earlier lacks these methods, so the caller adds them to its prototype.
 */
export function copyMethods({ methods }: Schema): object {
  const names = [...Object.keys(COPIES), MARK_SCHEMA];
  return Object.fromEntries(names.map((name) => [name, methods[name]]));
}

/**
 * Marks the stored values (`_doc`) of a document with the schema of the document. If a hook sets a spread
 * `{ ...document }` on a free-form field, Mongoose stores the content of `_doc`. By the mark, the answer can still hide
 * its hidden fields.
 */
function markValues(doc: Document, schema: Schema): void {
  (rawValues(doc) as MarkedCopy)[MARK] = markOfValues(schema);
}

/**
 * Returns the function that the stored values of a document hold under the symbol `MARK`. The function returns the
 * schema and the undeclared keys, by which a response hides fields. It reads the keys of the object on which it is
 * called, so a copy of the stored values gets the undeclared keys of the copy.
 */
const markOfValues = memoize((schema: Schema) =>
  function (this: object): CopyMark {
    return markFor(this, schema);
  }
);

function markCopy(copy: MarkedCopy, schema: Schema): void {
  const mark = markFor(copy, schema);
  const hidesSome = mark.undeclared.size > 0 || schemaKeys(schema).hidden.length > 0;
  if (hidesSome) copy[MARK] = () => mark;
}

function markFor(values: object, schema: Schema): CopyMark {
  const { declared } = schemaKeys(schema);
  const isOpen = schema.get("strict") === false;
  const undeclared = Object.keys(values).filter((key) => !isOpen && !declared.has(key));
  return { schema, undeclared: new Set(undeclared) };
}

export function markOf(value: object): CopyMark | undefined {
  return (value as MarkedCopy)[MARK]?.();
}

export interface Spread {
  readonly stored: object;
  readonly added: object;
  readonly mark: CopyMark | undefined;
}

/** Matches the names of the members that Mongoose adds to every document. These members are no values of the entity. */
const OWN_MEMBERS = /^(\$|_doc$|__parentArray$|__index$)/;

/**
 * Returns the stored values of a spread document, `{ ...document }`, the values that a hook has added to it, and the
 * schema by which a response hides its fields. Returns `undefined` for any other object.
 */
export function spreadOf(value: object): Spread | undefined {
  const { $__: internals, _doc: stored } = value as { $__?: unknown; _doc?: unknown };
  if (internals === undefined || typeof stored !== "object" || stored === null) return undefined;
  return {
    stored,
    added: Object.fromEntries(Object.entries(value).filter(([key]) => !OWN_MEMBERS.test(key))),
    mark: markOf(stored),
  };
}

/**
 * Replaces each spread document, `{ ...document }`, in the result of an action by a copy of the document's values that
 * holds their schema. Mongoose would use the content of the spread without the schema, so its hidden fields would no
 * longer be known.
 */
export function withoutSpreads(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpreads);
  if (typeof value !== "object" || value === null || isDocument(value)) return value;
  const spread = spreadOf(value);
  if (spread !== undefined) {
    const { mark, stored, added } = spread;
    const copy: MarkedCopy = { ...stored, ...added };
    if (mark !== undefined) copy[MARK] = () => mark;
    return copy;
  }
  if (!isJsonObject(value)) return value;
  const inner = Object.entries(value).map(([key, each]) => [key, withoutSpreads(each)]);
  return Object.assign({ ...value }, Object.fromEntries(inner));
}
