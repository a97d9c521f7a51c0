import mongoose from "mongoose";
import type { ClientSession, Document, Schema } from "mongoose";
import { BulkError, eachInTurn } from "../../../errors/bulk_error.ts";
import { forgetAllChanges, ownDefaults, statesOf } from "../documents/document_values.ts";
import { markOwn, middlewareOf } from "../schemas/schema_members.ts";

async function validate(doc: Document): Promise<void> {
  if (doc.schema.get("validateBeforeSave") !== false) await doc.validate();
}

/** Runs the middleware before a save, which reads its options in several places. */
async function runPreSave(doc: Document): Promise<void> {
  const internals = (doc as unknown as DocumentInternals).$__;
  const { timestamps } = internals;
  internals.saveOptions = { ...typeof timestamps === "boolean" && { timestamps } };
  doc.$op = "save";
  try {
    await middlewareOf(doc).execPre("save", doc, [internals.saveOptions]);
  } finally {
    internals.saveOptions = null;
    doc.$op = null;
  }
}

/** Runs the middleware for an error of a save, which may make another one of it. */
async function toldOf(doc: Document, error: unknown): Promise<unknown> {
  try {
    await middlewareOf(doc).execPost("save", doc, [doc], { error });
    return error;
  } catch (other) {
    return other;
  }
}

/** Does for documents what Mongoose's `save` does, but for the write: validation first, then the middleware around it. */
export async function saveBy(
  docs: readonly Document[],
  write: () => Promise<void>,
): Promise<void> {
  try {
    await eachInTurn(docs, validate);
    await eachInTurn(docs, runPreSave);
    await write();
  } catch (error) {
    const errors = error instanceof BulkError ? error.errors : new Map([[0, error]]);
    const [first] = errors.values();
    const told = new Map<number, unknown>();
    for (const [index, doc] of docs.entries()) {
      told.set(index, await toldOf(doc, errors.get(index) ?? first));
    }
    if (!(error instanceof BulkError)) throw told.get(0);
    throw new BulkError(new Map([...told].filter(([index]) => errors.has(index))));
  }
  await eachInTurn(docs, (doc) => middlewareOf(doc).execPost("save", doc, [doc]));
}

/** Saves documents as {@linkcode saveBy} does, but each by itself. Returns the errors of those that are not saved. */
export async function saveEachBy(
  docs: readonly Document[],
  write: (docs: readonly Document[]) => Promise<void>,
): Promise<ReadonlyMap<Document, unknown>> {
  const errors = new Map<Document, unknown>();
  const attempt = async (
    some: readonly Document[],
    work: (some: readonly Document[]) => Promise<void>,
  ): Promise<readonly Document[]> => {
    try {
      await work(some);
    } catch (error) {
      if (!(error instanceof BulkError)) throw error;
      for (const [index, each] of error.errors) errors.set(some[index] as Document, each);
    }
    return some.filter((doc) => !errors.has(doc));
  };
  const valid = await attempt(docs, (some) => eachInTurn(some, validate));
  const ready = await attempt(valid, (some) => eachInTurn(some, runPreSave));
  const saved = ready.length === 0 ? [] : await attempt(ready, write);
  for (const [doc, error] of errors) errors.set(doc, await toldOf(doc, error));
  const finish = (doc: Document) => middlewareOf(doc).execPost("save", doc, [doc]);
  await attempt(saved, (some) => eachInTurn(some, finish));
  return errors;
}

export interface WriteOptions {
  /** Aborts when it is too late to send the statement. */
  readonly signal: AbortSignal;
  readonly maxTimeMS: number;
  readonly session?: ClientSession;
}

/** The options of a statement that writes a document: with the write concern of its schema, and the session of the host. */
export function statementOptionsOf(doc: Document, { session, ...options }: WriteOptions): object {
  const { transactionAsyncLocalStorage: around } = mongoose as TransactionAround;
  const used = session ?? doc.$session() ?? around?.getStore()?.session;
  if (used) return { ...options, session: used };
  const writeConcern: unknown = doc.schema.get("writeConcern");
  return { ...options, ...writeConcern !== undefined && { writeConcern } };
}

/** Where Mongoose keeps the session of a transaction around a request, if the application asks it to. */
interface TransactionAround {
  readonly transactionAsyncLocalStorage?: {
    getStore(): { readonly session?: ClientSession } | undefined;
  };
}

/** Has a document, and all that it embeds, take its changes for stored, as `save()` does. */
export function markSaved(doc: Document): void {
  const internals = (doc as unknown as DocumentInternals).$__;
  const { removedSubdocs } = internals;
  // An update stores no default that the document only shows: it stays one.
  const shown = doc.isNew ? [] : ownDefaults(doc);
  forgetAllChanges(doc);
  for (const path of shown) statesOf(doc).default(path);
  internals.version = undefined;
  // Their middleware has to find them after the write.
  internals.removedSubdocs = removedSubdocs;
  for (const each of [doc, ...doc.$getAllSubdocs()]) each.isNew = false;
  // What was stored before this save is no initial state any more: setting it again is a change.
  if (internals.savedState) internals.savedState = {};
}

interface DocumentInternals {
  readonly $__: {
    removedSubdocs?: unknown;
    version?: unknown;
    savedState?: object | null;
    saveOptions?: object | null;
    readonly timestamps?: unknown;
  };
}

/** Whether the next save of a document is bound to its version: by `increment()`, or `optimisticConcurrency`. */
export function isTiedToVersion(doc: Document): boolean {
  const { version } = (doc as unknown as DocumentInternals).$__;
  return Boolean(version) || Boolean(doc.schema.get("optimisticConcurrency" as never));
}

/** Has a document renew its timestamps with its next saves, or not. */
export function setStamping(doc: Document, stamps: boolean): void {
  (doc as unknown as { $timestamps(stamps: boolean): void }).$timestamps(stamps);
}

const saves = new WeakMap<object, number>();

/** Counts how often the documents of a schema are saved. */
export function countSaves(schema: Schema): void {
  const count = markOwn(function (this: Document): void {
    saves.set(this, savesOf(this) + 1);
  });
  schema.post("save", count as never);
}

export function savesOf(doc: object): number {
  return saves.get(doc) ?? 0;
}
