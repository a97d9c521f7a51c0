import mongoose from "mongoose";
import { issuePath, SchemaIssues } from "../schema/standard_schema.ts";
import { type Failure, StoreFailure } from "../errors/failure.ts";
import type { Problems } from "../errors/refusals.ts";
import {
  isCastError,
  isFailureOf,
  isForeign,
  isUncastStored,
  isValidatorError,
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

const { Error: MongooseError, mongo } = mongoose;

const WRITE_CONFLICT = 112;

/** The error codes of a document that an index or the collection's validation refuses. */
const REFUSED_DATA = new Set<unknown>(
  [121, 171, 13026, 13027, 13068, 16755, 16766, 16804, 17261, 17262],
);

/** The error codes of values that MongoDB 9 refuses anywhere in a request. */
const REFUSED_VALUES = new Set([510, 511]);

/** MongoDB 9 limits the memory of each statement, which a client's filter may exceed. */
const OUT_OF_MEMORY = [146, 292];

const BAD_FILTER = new Set([
  ...OUT_OF_MEMORY,
  ...[2, 9, 14, 27, 291, 16410, 16755, 16804, 17287, 18755, 31034, 31249, 34413, 51075],
  ...[51091, 51108, 5626500],
]);

export interface FailureOptions {
  readonly filtered: boolean;
  readonly writes?: boolean;
  /** Whether the query parameters can make a statement too large, which is then the client's fault. */
  readonly isLong?: boolean;
  /** The messages of errors contain no value of a hidden path. */
  readonly isHidden: (path: string) => boolean;
  /** If a hidden value is wrong and the client has not sent it, the application has set it. */
  readonly isSent?: (path: string) => boolean;
  /** Validation errors of other classes are errors of the application. */
  readonly targets?: readonly ModelClass[];
  /** Whether the connection is closed. Mongoose then gives up on waiting commands with a plain `MongooseError`. */
  readonly away?: boolean;
  readonly ids?: readonly string[];
}

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
  if (isLate(error)) return { kind: "changed" };
  if ((writes || isLong) && isTooLarge(error)) {
    return { kind: writes ? "largeEntity" : "largeFilter" };
  }
  // Without `targets`, the error is of a route of the application, whose broken socket may lead elsewhere.
  if (targets !== undefined && isBrokenSocket(error)) return { kind: "away", reason: "outage" };
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (error.code === 11000) {
    // A duplicate key in another collection comes from middleware, so the client cannot correct it.
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

function passingFailure(thrown: unknown, away: boolean): Failure | undefined {
  if (thrown instanceof StoreFailure) return thrown.failure;
  const around = transactionAround();
  if (around !== undefined && isClash(thrown)) return clashOf(around);
  const isGivenUp = away && thrown instanceof MongooseError && thrown.constructor === MongooseError;
  if (!isGivenUp && !isUnavailable(thrown)) return undefined;
  return { kind: "away", reason: "outage", pauseMS: pauseOfOverload(thrown) };
}

export function problemsOf(
  error: InstanceType<typeof MongooseError.ValidationError>,
  isHidden: (path: string) => boolean,
): Problems {
  const problems: Problems = {};
  for (const [path, problem] of Object.entries(error.errors)) {
    if (problem instanceof MongooseError.ValidationError) continue;
    const kind = problem.kind ?? "invalid";
    // The message of a failed cast contains the stored value, which may be secret.
    const isOfStored = kind === "cast" && problem.reason instanceof MongooseError.CastError;
    if (isHidden(path) || isOfStored) {
      problems[path] = { message: `Field "${path}" is not valid`, kind };
    } else if (problem.reason instanceof SchemaIssues) {
      for (const issue of problem.reason.issues) {
        problems[issuePath(path, issue)] = { message: issue.message, kind };
      }
    } else {
      problems[path] = { message: problem.message, kind };
    }
  }
  return problems;
}

export function isLate(error: unknown): boolean {
  return error instanceof MongooseError.VersionError ||
    error instanceof MongooseError.DocumentNotFoundError && !isUnmet(error);
}

/** Mongoose throws the same class for a query with `orFail()` and for a removed document, which has `numAffected`. */
export function isUnmet(error: unknown): boolean {
  return error instanceof MongooseError.DocumentNotFoundError && error.numAffected === undefined;
}

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

/** An error of `fetch` may mean that no entity has the URL's identifier, which is a 404. */
export function failureOfHook(
  { thrown, hook, away }: HookFailure,
  ids: readonly string[] = [],
): Failure | undefined {
  return passingFailure(thrown, away) ??
    (hook === "fetch" && isUnnamed(thrown, ids) ? { kind: "missed" } : undefined);
}

/** Whether a `persist` hook or an action failed because of values that the client can correct. */
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
 * Wrong values that the client has not sent are faults of the application, if their cast failed or their field is
 * hidden. The error loses the hidden fields, which the client cannot correct.
 */
function isOfApplication(
  error: unknown,
  { isSent = () => true, isHidden }: Pick<FailureOptions, "isSent" | "isHidden">,
): boolean {
  if (!(error instanceof MongooseError.ValidationError)) return false;
  const problems = Object.entries(error.errors);
  const isFailed = ([path, problem]: [string, unknown]) =>
    isCastError(problem) && (!isSent(path) || holdsPromise(problem.value));
  if (problems.some(isFailed)) return true;
  const unsent = problems.filter(([path, problem]) =>
    isHidden(path) && !isSent(path) && (isValidatorError(problem) || isUncastStored(problem))
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
  return namesId((thrown as { filter?: unknown }).filter, ids);
}

/** A `fetch` hook may find the entity by another field, and joins conditions by `$and`. */
function namesId(filter: unknown, ids: readonly string[]): boolean {
  return Object.entries(filter ?? {}).some(([key, value]) =>
    key === "$and" && Array.isArray(value)
      ? value.some((each) => namesId(each, ids))
      : ids.includes(String(value))
  );
}

export function isDuplicateIn(
  { message }: InstanceType<typeof mongo.MongoServerError>,
  targets: readonly ModelClass[],
): boolean | undefined {
  const [, namespace] = /E11000 duplicate key error collection: (.+?) index: /.exec(message) ?? [];
  if (namespace === undefined) return undefined;
  const collection = namespace.slice(namespace.indexOf(".") + 1);
  return targets.some((each) => collectionName(each, buildSchema(each).schema) === collection);
}

/** After an error with one of these labels, a repeated request may succeed. */
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

/** MongoDB's error code for a full disk. Unlike other outages, it stops no reads. */
export const DISK_FULL = 14_031;

/** The error codes of older servers and servers without sessions, which send no labels. */
const CODES = new Set([
  // The server or the network is not available.
  ...[6, 7, 89, 91, 133, 189, 202, 384, 9001, 10058, 10107, 11600, 11602, 13435, 13436, 91331],
  // The statement took too long, was stopped, or lost its lock, cursor, snapshot or transaction.
  ...[24, 43, 46, 50, 64, 134, 175, 237, 239, 246, 251, 262, 290, 355, 365, 453, 11601, 46841],
  10045600,
  // The server is overloaded.
  ...[145, 402, 407, 433, 449, 450, 462, 473, 489, 509],
  DISK_FULL,
]);

export function isUnavailable(error: unknown): boolean {
  if (error instanceof MongooseError.MongooseServerSelectionError) return true;
  if (!(error instanceof mongo.MongoError)) return false;
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

export function isClosedByHost(error: unknown): boolean {
  return CLOSED.some((each) => error instanceof each) ||
    Object(error).name === "MongoPoolClosedError";
}

/** The driver passes on the runtime's error for a broken socket. */
function isBrokenSocket(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (!(error instanceof Error)) return false;
  // `EPIPE` may lack `syscall`, because Node sends nothing to an end that is known to be closed.
  const isCall = syscall === "write" || syscall === "read";
  return code === "EPIPE" && (isCall || syscall === undefined) || code === "ECONNRESET" && isCall;
}

/** The largest document of MongoDB. */
const MAX_BYTES = 16 * 1024 * 1024;

const LARGE_DOCUMENT_CODES = new Set<unknown>([10334, 17419, 17420]);

/** The driver encodes documents before sending, and passes on the `RangeError` of its buffer. */
function isTooLarge(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (error instanceof RangeError) {
    return code === "ERR_OUT_OF_RANGE" && boundIn(error) >= MAX_BYTES;
  }
  return error instanceof mongoose.mongo.MongoServerError &&
    (LARGE_DOCUMENT_CODES.has(code) || code === 2 && error.message.includes("too large"));
}

/** If the bound is below 16 MB, the `RangeError` comes from the application. */
function boundIn({ message }: RangeError): number {
  return Number(/<= (\d+)/.exec(message)?.[1] ?? 0);
}
