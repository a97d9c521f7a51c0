import mongoose from "mongoose";
import type { ClientSession, Document, mongo } from "mongoose";
import { BulkError, eachInTurn } from "../../../errors/bulk_error.ts";
import { forgetAllChanges } from "../documents/document_values.ts";

interface Middleware {
  execPre(name: string, doc: Document, args: unknown[]): Promise<unknown>;
  execPost(name: string, doc: Document, args: unknown[], options?: object): Promise<unknown>;
  /** Leaves middleware out; see `dropMiddleware()`. */
  filter(keeps: (hook: { readonly fn: object }) => boolean): Middleware;
}

export function middlewareOf(doc: Document): Middleware {
  return (doc as unknown as { $__middleware: Middleware }).$__middleware;
}

/** Does what Mongoose's `save` does, but for the write: validation first, then the middleware around it. */
export async function saveBy(doc: Document, write: () => Promise<void>): Promise<void> {
  try {
    await validate(doc);
    await middlewareOf(doc).execPre("save", doc, [{}]);
    await write();
  } catch (error) {
    throw await toldOf(doc, error);
  }
  await middlewareOf(doc).execPost("save", doc, [doc]);
}

async function validate(doc: Document): Promise<void> {
  if (doc.schema.get("validateBeforeSave") !== false) await doc.validate();
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

/** Does the same for several documents with one write: before it, all are ready. */
export async function saveAllBy(
  docs: readonly Document[],
  write: () => Promise<void>,
): Promise<void> {
  try {
    await eachInTurn(docs, validate);
    await eachInTurn(docs, (doc) => middlewareOf(doc).execPre("save", doc, [{}]));
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

export interface WriteOptions {
  /** Aborts when it is too late to send the statement. */
  readonly signal: AbortSignal;
  readonly maxTimeMS: number;
  readonly session?: ClientSession;
}

/** Writes a document by Mongoose's `save`, without the middleware, which {@linkcode saveBy} runs around it. */
export async function writeSaved(
  doc: Document,
  { signal, session: given }: WriteOptions,
): Promise<void> {
  if (signal.aborted) throw signal.reason;
  const before = doc.$session();
  const own = given ?? (before === null ? openSession(doc) : undefined);
  const end = () => void endSession(own);
  signal.addEventListener("abort", end);
  const internals = (doc as unknown as DocumentInternals).$__;
  const { removedSubdocs } = internals;
  try {
    const options = { validateBeforeSave: false, middleware: false, ...own && { session: own } };
    // The entity of an action has a `save()` of its own, which ends here.
    await (Object.getPrototypeOf(doc) as Document).save.call(doc, options);
  } finally {
    signal.removeEventListener("abort", end);
    if (given === undefined) await own?.endSession();
    // One that has ended leaves the document by itself.
    if (own !== undefined && before !== null) doc.$session(before);
  }
  // Their middleware has to find them after the write.
  internals.removedSubdocs = removedSubdocs;
}

export function markSaved(doc: Document): void {
  const internals = (doc as unknown as DocumentInternals).$__;
  const { removedSubdocs } = internals;
  forgetAllChanges(doc);
  internals.version = undefined;
  // Their middleware has to find them after the write.
  internals.removedSubdocs = removedSubdocs;
}

interface DocumentInternals {
  readonly $__: { removedSubdocs?: unknown; version?: unknown };
}

/** Opens a session for one statement: `save()` takes no signal, but in a session that has ended nothing is sent. */
function openSession({ db }: Document): ClientSession | undefined {
  // Mongoose takes the session of a transaction around the request.
  if (mongoose.get("transactionAsyncLocalStorage")) return undefined;
  // The driver allows no explicit one for unacknowledged writes.
  return db.getClient().startSession({ explicit: false } as mongo.ClientSessionOptions);
}

/** Ends a session whose statement may be under way: no other one may use it again. */
async function endSession(session: ClientSession | undefined): Promise<void> {
  if (session === undefined) return;
  if (session.serverSession !== null) session.serverSession.isDirty = true;
  await session.endSession();
}

/** Whether the next save of a document is bound to its version: by `increment()`, or `optimisticConcurrency`. */
export function isTiedToVersion(doc: Document): boolean {
  const { version } = (doc as unknown as DocumentInternals).$__;
  return Boolean(version) || Boolean(doc.schema.get("optimisticConcurrency" as never));
}
