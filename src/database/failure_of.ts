import mongoose from "mongoose";
import { pathOf, SchemaIssues } from "../schema/standard_schema.ts";
import { type Failure, StoreFailure } from "../errors/failure.ts";
import type { Problems } from "../errors/refusals.ts";
import {
  isBrokenRule,
  isFailedSet,
  isFailureOf,
  isForeign,
  isMisfit,
  validationFailure,
} from "../schema/mongoose/errors.ts";
import { holdsPromise } from "../schema/mongoose/schemas/refuse_promises.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { HookFailure } from "../declare/hooks/run_hook.ts";
import { declaredKeys } from "../schema/mongoose/schemas/change_indexes.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { transactionAround } from "../schema/mongoose/statements/transaction_around.ts";
import { collectionName } from "../schema/model_name.ts";
import { pauseOfOverload } from "./overload.ts";
import { isClash } from "./in_transaction.ts";
import { clashOf } from "./shared_transaction.ts";
import { isTooLarge } from "./too_large.ts";

const { Error: MongooseError, mongo } = mongoose;

/** The server's error code for a write that conflicts with another write. */
const WRITE_CONFLICT = 112;

/**
 * The server's error codes for a document that the validation rules of its collection refuse (121), or that has a value
 * which an index cannot hold, such as wrong coordinates or an unknown language.
 */
const REFUSED_DATA = new Set<unknown>(
  [121, 171, 13026, 13027, 13068, 16755, 16766, 16804, 17261, 17262],
);

/** The error codes of MongoDB 9 for values that the server refuses, no matter where in the request the values are. */
const REFUSED_VALUES = new Set([510, 511]);

/**
 * The server's error codes for a statement that needs more memory than the server allows. MongoDB 9 limits the memory
 * of each statement. The filter of a client may be the cause.
 */
const OUT_OF_MEMORY = [146, 292];

const BAD_FILTER = new Set([
  ...OUT_OF_MEMORY,
  ...[2, 9, 14, 27, 291, 16410, 16755, 16804, 17287, 18755, 31034, 31249, 34413, 51075],
  ...[51091, 51108, 5626500],
]);

export interface FailureOptions {
  readonly filtered: boolean;
  /** Whether the request writes entities, so that an error about the size of a document is about an entity. */
  readonly writes?: boolean;
  /** Whether the parameters of the request are so long that they can make a statement too large for the database. */
  readonly isLong?: boolean;
  /**
   * Whether a path is hidden from the reader of the answer. The messages of errors contain no value of a hidden path.
   */
  readonly isHidden: (path: string) => boolean;
  /**
   * Whether the request body gives a value to a path. A wrong value of a hidden field that the body does not set is an
   * error of the application.
   */
  readonly isSent?: (path: string) => boolean;
  /** The classes that the route serves. A validation error of another class is an error of the application. */
  readonly targets?: readonly ModelClass[];
  /**
   * Whether the connection is closed. Mongoose throws a plain `MongooseError` for commands that it gave up on, so the
   * class of the error does not show that the database is away.
   */
  readonly away?: boolean;
  readonly ids?: readonly string[];
}

/** Returns `undefined` for an error that is neither of the database nor of the client. */
export function failureOf(error: unknown, options: FailureOptions): Failure | undefined {
  const { filtered, writes = false, isLong = false, isHidden, targets, away = false } = options;
  const passing = passingFailure(error, away);
  if (passing !== undefined) return passing;
  if (targets !== undefined && isForeign(error, targets)) return undefined;
  if (error instanceof MongooseError.ValidationError) {
    const failure = validationFailure(error);
    return failure === undefined
      ? { kind: "invalid", problems: problemsOf(error, isHidden) }
      : passingFailure(failure.thrown, away);
  }
  if (error instanceof MongooseError.StrictModeError) {
    const problem = { message: error.message, kind: "strict" };
    return { kind: "invalid", problems: { [error.path]: problem } };
  }
  if (error instanceof MongooseError.CastError && error.path === "_id") return { kind: "missed" };
  if (isLate(error)) return { kind: "changed" };
  if ((writes || isLong) && isTooLarge(error)) {
    return { kind: writes ? "largeEntity" : "largeFilter" };
  }
  // The option `targets` has the classes of a REST route. It is missing for an error of a route of the application,
  // which may have used the broken socket for another server than the database.
  if (targets !== undefined && isBrokenSocket(error)) return { kind: "away", reason: "outage" };
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (error.code === 11000) {
    // Middleware may write to another collection. A duplicate key in that collection is an error of the application.
    return targets && isDuplicateIn(error, targets) === false
      ? undefined
      : { kind: "duplicate", fields: duplicateFields(error, targets ?? []) };
  }
  const code = Number(error.code);
  if (filtered && (BAD_FILTER.has(code) || REFUSED_VALUES.has(code))) return { kind: "badFilter" };
  if (REFUSED_DATA.has(code) || REFUSED_VALUES.has(code)) return { kind: "invalid", problems: {} };
  if (OUT_OF_MEMORY.includes(code)) return { kind: "away", reason: "outage" };
  return error.code === WRITE_CONFLICT ? { kind: "changed" } : undefined;
}

/** Returns the failure of a statement that the client may repeat, no matter which function has sent it. */
function passingFailure(thrown: unknown, away: boolean): Failure | undefined {
  if (thrown instanceof StoreFailure) return thrown.failure;
  const around = transactionAround();
  if (around !== undefined && isClash(thrown)) return clashOf(around);
  const isGivenUp = away && thrown instanceof MongooseError && thrown.constructor === MongooseError;
  if (!isGivenUp && !isUnavailable(thrown)) return undefined;
  return { kind: "away", reason: "outage", pauseMS: pauseOfOverload(thrown) };
}

/** Returns the error texts of a failed validation by path. The texts contain no value of a hidden field. */
export function problemsOf(
  error: InstanceType<typeof MongooseError.ValidationError>,
  isHidden: (path: string) => boolean,
): Problems {
  const problems: Problems = {};
  for (const [path, problem] of Object.entries(error.errors)) {
    if (problem instanceof MongooseError.ValidationError) continue;
    const kind = problem.kind ?? "invalid";
    // If Mongoose could not cast a stored value, its message contains this value, which may be secret. The answer has a
    // message without the value.
    const isOfStored = kind === "cast" && problem.reason instanceof MongooseError.CastError;
    if (isHidden(path) || isOfStored) {
      problems[path] = { message: `Field "${path}" is not valid`, kind };
    } else if (problem.reason instanceof SchemaIssues) {
      for (const issue of problem.reason.issues) {
        problems[pathOf(path, issue)] = { message: issue.message, kind };
      }
    } else {
      problems[path] = { message: problem.message, kind };
    }
  }
  return problems;
}

/**
 * Whether Mongoose could not write a document because another request has changed or removed the document.
 */
export function isLate(error: unknown): boolean {
  return error instanceof MongooseError.VersionError ||
    error instanceof MongooseError.DocumentNotFoundError && !isUnmet(error);
}

/**
 * Whether a query of the application with `orFail()` found no document. A save throws an error of the same class if
 * another request has removed the document, but that error contains the number of documents that the save found.
 */
export function isUnmet(error: unknown): boolean {
  return error instanceof MongooseError.DocumentNotFoundError && error.numAffected === undefined;
}

/**
 * Returns the fields of a unique index whose values are taken, as the class has declared the index. Class options may
 * have added a field to the index, which clients need not know.
 */
export function duplicateFields(
  { keyPattern = {} }: InstanceType<typeof mongo.MongoServerError>,
  targets: readonly ModelClass[],
): string[] {
  for (const target of targets) {
    const declared = declaredKeys(buildSchema(target).schema, keyPattern);
    if (declared !== undefined) return Object.keys(declared);
  }
  return Object.keys(keyPattern);
}

/**
 * Returns the failure of the database behind an error of a hook, or "missed" if the hook `fetch` found no entity with an
 * identifier in the URL.
 */
export function failureOfHook(
  { thrown, hook, away }: HookFailure,
  ids: readonly string[] = [],
): Failure | undefined {
  return passingFailure(thrown, away) ??
    (hook === "fetch" && isUnnamed(thrown, ids) ? { kind: "missed" } : undefined);
}

/** Whether a `persist` hook or an action could not store the entity because of its values. */
export function isOfClient({ thrown, hook }: HookFailure, options: FailureOptions): boolean {
  const { targets = [] } = options;
  if (hook !== "persist" && hook !== "run") return false;
  if (thrown instanceof MongooseError) {
    const isKnown = thrown instanceof MongooseError.ValidationError || isLate(thrown);
    return isKnown && isFailureOf(thrown, targets) && !isOfApplication(thrown, options);
  }
  return thrown instanceof mongo.MongoServerError &&
    (REFUSED_DATA.has(thrown.code) ||
      thrown.code === 11000 && isDuplicateIn(thrown, targets) === true);
}

/**
 * Whether the application, and not the client, is responsible for a failed validation of a document that a hook or an
 * action has saved. The application is responsible if it has set a value that cannot be cast, or if all problems are
 * about hidden fields that the client has not sent. Otherwise, the function removes the problems of such hidden fields
 * from the error, because the client cannot solve them.
 */
function isOfApplication(
  error: unknown,
  { isSent = () => true, isHidden }: Pick<FailureOptions, "isSent" | "isHidden">,
): boolean {
  if (!(error instanceof MongooseError.ValidationError)) return false;
  const problems = Object.entries(error.errors);
  const isFailed = ([path, problem]: [string, unknown]) =>
    isFailedSet(problem) && (!isSent(path) || holdsPromise(problem.value));
  if (problems.some(isFailed)) return true;
  const unsent = problems.filter(([path, problem]) =>
    isHidden(path) && !isSent(path) && (isBrokenRule(problem) || isMisfit(problem))
  );
  if (unsent.length === problems.length) return true;
  for (const [path] of unsent) delete error.errors[path];
  return false;
}

function isUnnamed(thrown: unknown, ids: readonly string[]): boolean {
  if (thrown instanceof MongooseError.CastError) {
    return thrown.path === "_id" && ids.includes(String(thrown.value));
  }
  if (!(thrown instanceof MongooseError.DocumentNotFoundError)) return false;
  const { filter } = thrown as { filter?: { _id?: unknown } };
  return ids.includes(String(filter?._id ?? ""));
}

/**
 * Whether a duplicate key is in the collection of one of the classes, so that the client can be its cause. Returns
 * `undefined` if the server's message names no collection, so that the caller must decide.
 */
export function isDuplicateIn(
  { message }: InstanceType<typeof mongo.MongoServerError>,
  targets: readonly ModelClass[],
): boolean | undefined {
  const [, namespace] = /E11000 duplicate key error collection: (.+?) index: /.exec(message) ?? [];
  if (namespace === undefined) return undefined;
  const collection = namespace.slice(namespace.indexOf(".") + 1);
  return targets.some((each) => collectionName(each, buildSchema(each).schema) === collection);
}

/**
 * The error labels of the server and the driver for failures after which a repeated request may succeed.
 */
const LABELS = [
  "RetryableError",
  "RetryableWriteError",
  "SystemOverloadedError",
  "TransientTransactionError",
  "UnknownTransactionCommitResult",
];

const CLASSES = [
  mongo.MongoNetworkError,
  mongo.MongoServerSelectionError,
  mongo.MongoOperationTimeoutError,
  mongo.MongoWriteConcernError,
  mongo.MongoNotConnectedError,
  mongo.MongoServerClosedError,
  mongo.MongoTopologyClosedError,
  mongo.MongoClientClosedError,
];

const UNEXPORTED = new Set(["MongoPoolClosedError", "MongoWaitQueueTimeoutError"]);

/** The server's error code for a write that its disk has no space for. Reads may still succeed. */
export const DISK_FULL = 14_031;

/**
 * The server's error codes for failures after which a repeated request may succeed. Older servers return these codes
 * without labels, and so do servers without sessions.
 */
const CODES = new Set([
  // Error codes of a server or a network that is not available
  ...[6, 7, 89, 91, 133, 189, 202, 384, 9001, 10058, 10107, 11600, 11602, 13435, 13436, 91331],
  // Error codes of a statement that took too long, was stopped, or lost its lock, cursor, snapshot or transaction
  ...[24, 43, 46, 50, 64, 134, 175, 237, 239, 246, 251, 262, 290, 355, 365, 453, 11601, 46841],
  10045600,
  // Error codes of an overloaded server
  ...[145, 402, 407, 433, 449, 450, 462, 473, 489, 509],
  DISK_FULL,
]);

/**
 * Whether an error means that the database was not reached, has not answered in time, or may answer if the client
 * repeats the request, as after a conflict of transactions.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof MongooseError.MongooseServerSelectionError) return true;
  if (!(error instanceof mongo.MongoError)) return false;
  // If a statement writes several documents, the driver wraps an error of the whole statement, such as a lost
  // connection, in a `MongoBulkWriteError`. So the inner error decides.
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error) {
    return isUnavailable(error.errorResponse);
  }
  return LABELS.some((label) => error.hasErrorLabel(label)) ||
    CLASSES.some((each) => error instanceof each) || UNEXPORTED.has(error.name) ||
    error instanceof mongo.MongoServerError && CODES.has(Number(error.code));
}

const CLOSED = [
  mongo.MongoClientClosedError,
  mongo.MongoTopologyClosedError,
  mongo.MongoServerClosedError,
];

/**
 * Whether a statement failed because the application has closed its connection. When a server stops, such errors of
 * requests that have ended are not reported.
 */
export function isClosedByHost(error: unknown): boolean {
  return CLOSED.some((each) => error instanceof each) ||
    Object(error).name === "MongoPoolClosedError";
}

/**
 * Whether a socket broke while the driver was sending. The driver passes on the error of the runtime, which has no
 * class of the driver.
 */
function isBrokenSocket(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (!(error instanceof Error)) return false;
  // An `EPIPE` without a `syscall` also counts as a broken socket. The runtime throws it for a socket whose other end
  // is known to be closed.
  const isCall = syscall === "write" || syscall === "read";
  return code === "EPIPE" && (isCall || syscall === undefined) || code === "ECONNRESET" && isCall;
}
