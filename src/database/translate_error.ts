import mongoose from "mongoose";
import { badData } from "../errors/bad_data.ts";
import type { Problems } from "../errors/bad_data.ts";
import { badFormat, conflict, notFound, unavailable } from "../errors/refusals.ts";
import { isForeign } from "../schema/mongoose/error_origin.ts";
import type { ModelClass } from "../declare/model/model_class.ts";
import { isDuplicateIn } from "./duplicate_collection.ts";
import { RestError } from "../errors/rest_error.ts";

const { Error: MongooseError, mongo } = mongoose;

/** Codes of the server that say: not now. */
const UNAVAILABLE = new Set([
  6,
  7,
  50,
  89,
  91,
  133,
  134,
  189,
  262,
  9001,
  10058,
  10107,
  11600,
  11602,
  13435,
  13436,
]);

/** Codes of the server that say: this data does not pass its rules, or does not fit what is stored around it. */
const REFUSED_DATA = new Set([28, 121]);

/** Codes of the server that say: this filter makes no sense. */
const BAD_FILTER = new Set([
  2,
  9,
  14,
  16755,
  17287,
  27,
  31034,
  31249,
  51075,
  51091,
  51108,
  291,
  16804,
  16410,
  18755,
  34413,
  5626500,
]);

/** What is known of the request that failed. */
export interface TranslateOptions {
  /** Whether the client sent a filter of its own. */
  readonly filtered: boolean;
  /** Tells whether a path is a secret, so that no message carries its value. */
  readonly isHidden: (path: string) => boolean;
  /** The classes that the route serves: a validation error of another class is the host's. None on a route of the host. */
  readonly targets?: readonly ModelClass[];
  /** Whether the connection that was used is not open: Mongoose has no class for commands that it gave up on. */
  readonly away?: boolean;
  /** The identifiers that the client sent in the path. */
  readonly ids?: readonly string[];
}

/** Turns what the pipeline threw into the answer; `undefined` for what is nobody's but the host's to know. */
export function translateError(
  error: unknown,
  { filtered, isHidden, targets, away = false }: TranslateOptions,
): RestError | undefined {
  if (error instanceof RestError) return error;
  if (targets !== undefined && isForeign(error, targets)) return undefined;
  if (error instanceof MongooseError.ValidationError) {
    return badData(problemsOf(error, isHidden), error);
  }
  if (error instanceof MongooseError.StrictModeError) {
    return badData({ [error.path]: { message: error.message, kind: "strict" } }, error);
  }
  if (error instanceof MongooseError.CastError && error.path === "_id") return notFound();
  if (error instanceof MongooseError.VersionError) return conflict(error);
  if (error instanceof MongooseError.DocumentNotFoundError) return conflict(error);
  if (isUnavailable(error) || away && isBare(error)) return unavailable(error);
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (error.code === 11000) {
    // Middleware may write to another collection: what is wrong there is the host's.
    return targets && isDuplicateIn(error, targets) === false ? undefined : duplicate(error);
  }
  if (error.code === 112) return conflict(error);
  if (REFUSED_DATA.has(Number(error.code))) return badData({}, error);
  if (filtered && BAD_FILTER.has(Number(error.code))) {
    return badFormat("The database refused the filter");
  }
  return undefined;
}

function problemsOf(
  error: InstanceType<typeof MongooseError.ValidationError>,
  isHidden: (path: string) => boolean,
): Problems {
  const problems: Problems = {};
  for (const [path, problem] of Object.entries(error.errors)) {
    if (problem instanceof MongooseError.ValidationError) continue;
    const kind = problem.kind ?? "invalid";
    const isSecret = isHidden(path) || isOfStored(problem);
    problems[path] = { message: isSecret ? `Field "${path}" is not valid` : problem.message, kind };
  }
  return problems;
}

/** Whether Mongoose could not read what is stored: no answer shows that, and it may hold anything. */
function isOfStored({ kind, reason }: { kind?: string | undefined; reason?: unknown }): boolean {
  return kind === "cast" && reason instanceof MongooseError.CastError;
}

/** Tells whether an error says that the database is out of reach. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError && UNAVAILABLE.has(Number(error.code))) return true;
  return error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoOperationTimeoutError ||
    // The driver keeps this class, of a pool without a free connection, to itself.
    (error instanceof mongo.MongoDriverError && error.name === "MongoWaitQueueTimeoutError") ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    error instanceof mongo.MongoClientClosedError ||
    error instanceof MongooseError.MongooseServerSelectionError;
}

/** Whether an error is of Mongoose's class of errors that have no class of their own. */
export function isBare(error: unknown): boolean {
  return error instanceof MongooseError && error.constructor === MongooseError;
}

function duplicate(error: InstanceType<typeof mongo.MongoServerError>): RestError {
  const fields = Object.keys(error.keyPattern ?? {});
  return new RestError(409, {
    code: "CONFLICT",
    message: "Another entity has the same value",
    fields,
  }, { cause: error });
}
