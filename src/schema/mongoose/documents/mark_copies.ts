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
  readonly undeclared: ReadonlySet<string>;
}

/** A spread and `Object.assign()` copy a symbol. JSON and the database ignore it. */
const MARK: unique symbol = Symbol("mongrove.copy");

interface MarkedCopy {
  /** The mark is a function, so that logs do not print the schema. */
  [MARK]?: () => CopyMark;
}

type Copy = (this: Document, ...args: unknown[]) => object;

const MARK_SCHEMA = "$markSchema";

const COPIES: Readonly<Record<string, (copy: object, schema: Schema) => void>> = {
  toObject: markCopy,
  $clone(copy, schema) {
    if (isDocument(copy)) markValues(copy, schema);
  },
};

/** Without the mark, a hook's copy of a document would show hidden fields and undeclared data of other programs. */
export function markCopies(schema: Schema): void {
  // A discriminator inherits these methods, and must not wrap them again.
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

/** Classes that Mongoose generated before `markCopies()` lack these methods, and their copies would lack the mark. */
export function copyMethods({ methods }: Schema): object {
  const names = [...Object.keys(COPIES), MARK_SCHEMA];
  return Object.fromEntries(names.map((name) => [name, methods[name]]));
}

/**
 * If a hook sets `{ ...document }` on a free-form field, Mongoose stores the content of `_doc`, whose mark must name
 * the hidden fields.
 */
function markValues(doc: Document, schema: Schema): void {
  (rawValues(doc) as MarkedCopy)[MARK] = markOfValues(schema);
}

/** Reads the keys of `this`, so that each copy of a document reports its own undeclared keys. */
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

const OWN_MEMBERS = /^(\$|_doc$|__parentArray$|__index$)/;

export function spreadOf(value: object): Spread | undefined {
  const { $__: internals, _doc: stored } = value as { $__?: unknown; _doc?: unknown };
  if (internals === undefined || typeof stored !== "object" || stored === null) return undefined;
  return {
    stored,
    added: Object.fromEntries(Object.entries(value).filter(([key]) => !OWN_MEMBERS.test(key))),
    mark: markOf(stored),
  };
}

/** Mongoose would take the values of `{ ...document }` without the schema, and an answer would show hidden fields. */
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
