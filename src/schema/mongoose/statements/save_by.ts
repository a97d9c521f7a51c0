import type { ClientSession, Document, Schema } from "mongoose";
import { BulkError, eachInTurn } from "../../../errors/bulk_error.ts";
import { forgetAllChanges, ownDefaults, statesOf } from "../documents/document_values.ts";
import { markOwn, middlewareOf } from "../schemas/schema_members.ts";
import { validateDocument } from "../documents/validate_document.ts";

async function validate(doc: Document): Promise<void> {
  if (doc.schema.get("validateBeforeSave") !== false) await validateDocument(doc);
}

/** Middleware finds the options of the save in its argument or in the document, so both get them. */
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

async function afterErrorMiddleware(doc: Document, error: unknown): Promise<unknown> {
  try {
    await middlewareOf(doc).execPost("save", doc, [doc], { error });
    return error;
  } catch (other) {
    return other;
  }
}

/** Runs the steps of `save()` for several documents together, so that `write` needs few commands. */
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
    const reported = new Map<number, unknown>();
    for (const [index, doc] of docs.entries()) {
      reported.set(index, await afterErrorMiddleware(doc, errors.get(index) ?? first));
    }
    if (!(error instanceof BulkError)) throw reported.get(0);
    throw new BulkError(new Map([...reported].filter(([index]) => errors.has(index))));
  }
  await eachInTurn(docs, (doc) => middlewareOf(doc).execPost("save", doc, [doc]));
}

/** As {@linkcode saveBy}, but an error stops only its document. */
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
  for (const [doc, error] of errors) errors.set(doc, await afterErrorMiddleware(doc, error));
  const finish = (doc: Document) => middlewareOf(doc).execPost("save", doc, [doc]);
  await attempt(saved, (some) => eachInTurn(some, finish));
  return errors;
}

export interface StatementOptions {
  readonly signal: AbortSignal;
  readonly maxTimeMS: number;
  readonly session?: ClientSession;
}

export function markSaved(doc: Document): void {
  const internals = (doc as unknown as DocumentInternals).$__;
  const { removedSubdocs } = internals;
  // An update does not store the defaults of missing fields, so they stay marked as defaults.
  const shown = doc.isNew ? [] : ownDefaults(doc);
  forgetAllChanges(doc);
  for (const path of shown) statesOf(doc).default(path);
  internals.version = undefined;
  // The middleware of removed embedded documents needs this list after the write.
  internals.removedSubdocs = removedSubdocs;
  for (const each of [doc, ...doc.$getAllSubdocs()]) each.isNew = false;
  // After this save, setting an earlier value again must count as a change.
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

/** With `increment()` or `optimisticConcurrency`, a save fails if the version has changed. */
export function isTiedToVersion(doc: Document): boolean {
  const { version } = (doc as unknown as DocumentInternals).$__;
  return Boolean(version) || Boolean(doc.schema.get("optimisticConcurrency" as never));
}

export function setStamping(doc: Document, stamps: boolean): void {
  (doc as unknown as { $timestamps(stamps: boolean): void }).$timestamps(stamps);
}

const saves = new WeakMap<object, number>();

/** A hook may save its document. The response then needs the new version. */
export function countSaves(schema: Schema): void {
  const count = markOwn(function (this: Document): void {
    saves.set(this, savesOf(this) + 1);
  });
  schema.post("save", count as never);
}

export function savesOf(doc: object): number {
  return saves.get(doc) ?? 0;
}
