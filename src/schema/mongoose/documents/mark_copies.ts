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
  /** The keys of the copy that the schema does not declare. */
  readonly undeclared: ReadonlySet<string>;
}

/** A copy carries its mark through a spread and `Object.assign()`; JSON and the database do not see it. */
const MARK: unique symbol = Symbol("mongrove.copy");

interface MarkedCopy {
  /** A function, so that logs do not print the schema. */
  [MARK]?: () => CopyMark;
}

type ToObject = (this: Document, ...args: unknown[]) => object;

const MARK_SCHEMA = "$markSchema";

/**
 * Makes copies of a schema's documents tell where they come from: what `toObject()` gives, and `{ ...document }`. A hook that
 * returns such a copy, alone or inside of an object of its own, would otherwise show hidden fields, such as the hash of a
 * password, and what other programs have stored.
 */
export function markCopies(schema: Schema): void {
  const own = schema.methods.toObject as ToObject | undefined;
  const toObject = function (this: Document, ...args: unknown[]): object {
    const copy = (own ?? mongoose.Document.prototype.toObject as ToObject).apply(this, args);
    return Object(copy) === copy ? markCopy(copy, this.schema as Schema) : copy;
  };
  const markSchema = markOwn(function (this: Document): void {
    // A spread holds them, and Mongoose takes them out of one that is set as free-form data.
    (rawValues(this) as MarkedCopy)[MARK] = markOfValues(this.schema as Schema);
  });
  if (own === undefined) markOwn(toObject);
  const silent = { suppressWarning: true } as never;
  schema.method("toObject", toObject as never, silent);
  schema.method(MARK_SCHEMA, markSchema as never, silent);
  schema.queue(MARK_SCHEMA, []);
}

/** The methods that mark copies, for a class that was made of a schema before. */
export function copyMethods({ methods }: Schema): object {
  return { toObject: methods.toObject, [MARK_SCHEMA]: methods[MARK_SCHEMA] };
}

/** Gives the mark of stored values, and of their copies. */
const markOfValues = memoize((schema: Schema) =>
  function (this: object): CopyMark {
    return markFor(this, schema);
  }
);

function markCopy(copy: MarkedCopy, schema: Schema): object {
  const mark = markFor(copy, schema);
  const hidesSome = mark.undeclared.size > 0 || schemaKeys(schema).hidden.length > 0;
  if (hidesSome) copy[MARK] = () => mark;
  return copy;
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

/** Members that Mongoose's documents own, besides their values. */
const OWN_MEMBERS = /^(\$|_doc$|__parentArray$|__index$)/;

/** Reads `{ ...document }`; `undefined` for anything else. */
export function spreadOf(value: object): Spread | undefined {
  const { $__: internals, _doc: stored } = value as { $__?: unknown; _doc?: unknown };
  if (internals === undefined || typeof stored !== "object" || stored === null) return undefined;
  return {
    stored,
    added: Object.fromEntries(Object.entries(value).filter(([key]) => !OWN_MEMBERS.test(key))),
    mark: markOf(stored),
  };
}

/** Makes marked copies of the spreads in a value: Mongoose would take what they hold out of them, without the mark. */
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
