import mongoose from "mongoose";
import type { HookFailure } from "../../declare/hooks/run_hook.ts";
import { conflict, notFound } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { isOwn } from "../../schema/mongoose/error_origin.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { isDuplicateIn } from "./duplicate_collection.ts";
import { isLate, translateError, translateThrown } from "./translate_error.ts";
import type { TranslateOptions } from "./translate_error.ts";

const { Error: MongooseError, mongo } = mongoose;

/**
 * Turns what a hook threw into the answer; `undefined` for what is the host's own error. The client answers only for
 * what it sent itself: an identifier that names nothing, and the entity that a `persist` hook writes.
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
  if (hook !== "persist") return undefined;
  if (thrown instanceof MongooseError) {
    if (!isOwn(thrown, targets)) return undefined;
    if (thrown instanceof MongooseError.ValidationError) return translateError(thrown, options);
    return isLate(thrown) ? conflict(thrown) : undefined;
  }
  return isRefusedWrite(failure, targets) ? translateError(thrown, options) : undefined;
}

function isUnnamed(thrown: unknown, ids: readonly string[]): boolean {
  if (thrown instanceof MongooseError.CastError) {
    return thrown.path === "_id" && ids.includes(String(thrown.value));
  }
  return thrown instanceof MongooseError.DocumentNotFoundError && ids.includes(namedBy(thrown));
}

function namedBy(error: InstanceType<typeof MongooseError.DocumentNotFoundError>): string {
  const { filter } = error as { filter?: { _id?: unknown } };
  return String(filter?._id ?? "");
}

function isRefusedWrite(
  { thrown, entity }: HookFailure,
  targets: readonly ModelClass[],
): boolean {
  if (!(thrown instanceof mongo.MongoServerError)) return false;
  if (thrown.code === 11000) return isDuplicateIn(thrown, targets) === true;
  if (thrown.code !== 121) return false;
  const { _id } = (entity ?? {}) as { _id?: unknown };
  return _id !== undefined && String(thrown.errInfo?.failingDocumentId) === String(_id);
}
