import mongoose from "mongoose";
import { pathOf, SchemaIssues } from "../schema/standard_schema.ts";
import {
  badData,
  badFormat,
  conflict,
  notFound,
  Refusal,
  refusal,
  unavailable,
} from "../errors/refusals.ts";
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
import type { BulkError } from "../errors/bulk_error.ts";
import { RestError } from "../errors/rest_error.ts";
import type { HookFailure } from "../declare/hooks/run_hook.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { collectionName } from "../schema/model_name.ts";

const { Error: MongooseError, mongo } = mongoose;

/** A write clashes with another one. */
const WRITE_CONFLICT = 112;

/** The server's own rules refuse the data. */
const REFUSED_DATA = 121;

const BAD_FILTER = new Set([
  ...[2, 9, 14, 27, 291, 16410, 16755, 16804, 17287, 18755, 31034, 31249, 34413, 51075],
  ...[51091, 51108, 5626500],
]);

export interface TranslateOptions {
  readonly filtered: boolean;
  /** Whether a path is a secret: no message carries its value. */
  readonly isHidden: (path: string) => boolean;
  /** Whether the body of the request gives a value to a path. */
  readonly isSent?: (path: string) => boolean;
  /** The classes that the route serves: a validation error of another class is the host's. */
  readonly targets?: readonly ModelClass[];
  /** Whether the connection is not open: Mongoose has no class of its own for commands that it gave up on. */
  readonly away?: boolean;
  readonly ids?: readonly string[];
}

/** Turns what the pipeline threw into the answer; `undefined` for what only the host may know. */
export function translateError(
  error: unknown,
  { filtered, isHidden, targets, away = false }: TranslateOptions,
): RestError | undefined {
  const answer = translateThrown(error, away);
  if (answer !== undefined) return answer;
  if (targets !== undefined && isForeign(error, targets)) return undefined;
  if (error instanceof MongooseError.ValidationError) {
    const failure = validationFailure(error);
    return failure === undefined
      ? badData(problemsOf(error, isHidden), error)
      : translateThrown(failure.thrown, away);
  }
  if (error instanceof MongooseError.StrictModeError) {
    return badData({ [error.path]: { message: error.message, kind: "strict" } }, error);
  }
  if (error instanceof MongooseError.CastError && error.path === "_id") return notFound();
  if (isLate(error)) return conflict(error);
  // In the host's own routes it may be any socket.
  if (targets !== undefined && isBrokenSocket(error)) return unavailable(error);
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (error.code === 11000) {
    // Middleware may write to another collection: an error there is the host's.
    return targets && isDuplicateIn(error, targets) === false ? undefined : duplicate(error);
  }
  if (error.code === REFUSED_DATA) return badData({}, error);
  if (filtered && BAD_FILTER.has(Number(error.code))) {
    return badFormat("The database refused the filter");
  }
  return error.code === WRITE_CONFLICT ? conflict(error) : undefined;
}

/** Joins what is wrong with the data of many entities, by keys such as `"3.name"`, or gives the first other error. */
export function translateBulk(
  bulk: BulkError,
  options: TranslateOptions,
): { readonly answer: RestError | undefined; readonly thrown: unknown } {
  const problems: Problems = {};
  for (const [index, thrown] of bulk.errors) {
    const answer = translateError(thrown, options);
    if (!(answer instanceof Refusal) || answer.status >= 500) return { answer, thrown };
    const { errors } = answer.body as { readonly errors?: Problems };
    if (errors === undefined) {
      const body = { ...answer.body, index };
      return { answer: new Refusal(answer.status, body, { cause: thrown }), thrown };
    }
    const entries = Object.entries(errors);
    for (const [path, problem] of entries) problems[`${index}.${path}`] = problem;
    if (entries.length === 0) problems[index] = { message: answer.message, kind: "data" };
  }
  return { answer: badData(problems, bulk), thrown: bulk };
}

/** Turns what a function of the host threw into the answer; `undefined` for what only the host may know. */
function translateThrown(thrown: unknown, away: boolean): RestError | undefined {
  if (thrown instanceof RestError) return thrown;
  const isGivenUp = away && thrown instanceof MongooseError && thrown.constructor === MongooseError;
  return isGivenUp || isUnavailable(thrown) ? unavailable(thrown) : undefined;
}

/** Gives what a validation has found wrong, without the values of secrets. */
export function problemsOf(
  error: InstanceType<typeof MongooseError.ValidationError>,
  isHidden: (path: string) => boolean,
): Problems {
  const problems: Problems = {};
  for (const [path, problem] of Object.entries(error.errors)) {
    if (problem instanceof MongooseError.ValidationError) continue;
    const kind = problem.kind ?? "invalid";
    // Where Mongoose could not cast what is stored, the message may hold any stored value.
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

/** Whether Mongoose could not write a document because another request has changed it. */
export function isLate(error: unknown): boolean {
  return error instanceof MongooseError.VersionError ||
    error instanceof MongooseError.DocumentNotFoundError && !isUnmet(error);
}

/** Whether a query of the host met nothing where it had to: `orFail()`. The error of a save tells how many it met. */
export function isUnmet(error: unknown): boolean {
  return error instanceof MongooseError.DocumentNotFoundError && error.numAffected === undefined;
}

function duplicate(error: InstanceType<typeof mongo.MongoServerError>): RestError {
  const fields = Object.keys(error.keyPattern ?? {});
  const body = { message: "Another entity has the same value", fields };
  return refusal("CONFLICT", body, { cause: error });
}

/**
 * Turns what a hook threw into the answer; `undefined` for what is the host's own error. The client answers only for what
 * it sent itself: an identifier that names nothing, and the entity that a `persist` hook or an action writes.
 */
export function translateHookFailure(
  failure: HookFailure,
  options: TranslateOptions,
): RestError | undefined {
  const { thrown, hook, away } = failure;
  const { targets = [], ids = [] } = options;
  const answer = translateThrown(thrown, away);
  if (answer !== undefined) return answer;
  if (hook === "fetch" && isUnnamed(thrown, ids)) return notFound();
  if (hook !== "persist" && hook !== "run") return undefined;
  if (thrown instanceof MongooseError) {
    const isKnown = thrown instanceof MongooseError.ValidationError || isLate(thrown);
    if (!isKnown || !isFailureOf(thrown, targets)) return undefined;
    return isOfApplication(thrown, options) ? undefined : translateError(thrown, options);
  }
  if (!(thrown instanceof mongo.MongoServerError)) return undefined;
  const isRefused = thrown.code === REFUSED_DATA ||
    thrown.code === 11000 && isDuplicateIn(thrown, targets) === true;
  return isRefused ? translateError(thrown, options) : undefined;
}

/**
 * Whether a document that the application has saved is not valid because of the application: a value that cannot be cast,
 * or nothing but secrets that the client has not sent. The problems of such secrets are taken out of any other error.
 */
function isOfApplication(
  error: unknown,
  { isSent = () => true, isHidden }: Pick<TranslateOptions, "isSent" | "isHidden">,
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

/** Whether a duplicate key is in the collection of some classes; `undefined` where the server's message does not tell. */
export function isDuplicateIn(
  { message }: InstanceType<typeof mongo.MongoServerError>,
  targets: readonly ModelClass[],
): boolean | undefined {
  const [, namespace] = /^E11000 duplicate key error collection: (.+?) index: /.exec(message) ?? [];
  if (namespace === undefined) return undefined;
  const collection = namespace.slice(namespace.indexOf(".") + 1);
  return targets.some((each) => collectionName(each, buildSchema(each).schema) === collection);
}

/** Labels of the server or the driver for errors after which the same request may succeed. */
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

/** The codes of such errors, which older servers, and those without sessions, do not label. */
const CODES = new Set([
  // The host, the network, or its servers are away
  ...[6, 7, 89, 91, 133, 189, 202, 384, 9001, 10058, 10107, 11600, 11602, 13435, 13436, 91331],
  // It took too long, was ended, or lost its place: locks, cursors, snapshots, transactions
  ...[24, 43, 46, 50, 64, 134, 175, 237, 239, 246, 251, 262, 290, 355, 365, 453, 11601, 46841],
  // The server has too much to do
  ...[145, 402, 407, 433, 449, 450, 462],
]);

/** Whether the database could not be reached, did not answer in time, or asks to try again. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof MongooseError.MongooseServerSelectionError) return true;
  if (!(error instanceof mongo.MongoError)) return false;
  return LABELS.some((label) => error.hasErrorLabel(label)) ||
    CLASSES.some((each) => error instanceof each) || UNEXPORTED.has(error.name) ||
    error instanceof mongo.MongoServerError && CODES.has(Number(error.code));
}

const CLOSED = [
  mongo.MongoClientClosedError,
  mongo.MongoTopologyClosedError,
  mongo.MongoServerClosedError,
];

/** Whether a statement failed because the application has closed its connection. */
export function isClosedByHost(error: unknown): boolean {
  return CLOSED.some((each) => error instanceof each) ||
    Object(error).name === "MongoPoolClosedError";
}

/** Whether a socket broke while the driver was sending: the driver passes on what the runtime throws. */
function isBrokenSocket(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (!(error instanceof Error)) return false;
  // Without a call of the system where the runtime knows by itself that the other end has gone
  const isCall = syscall === "write" || syscall === "read";
  return code === "EPIPE" && (isCall || syscall === undefined) || code === "ECONNRESET" && isCall;
}
