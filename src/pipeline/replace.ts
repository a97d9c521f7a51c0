import mongoose from "mongoose";
import { fieldHookOf } from "../declare/hooks/named_fields.ts";
import { pauseBeforeRetry } from "../store/in_transaction.ts";
import { duplicateFields, isDuplicateIn } from "../store/failure_of.ts";
import { badData, notFound } from "../errors/refusals.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import { castKey, castKeyInPath } from "../sources/entities.ts";
import { typeProblem } from "../write/body/strict_body.ts";
import { storedText } from "../store/values.ts";
import { isLost } from "./failures.ts";
import { fetchOne, prepareEntitiesRead } from "./fetch.ts";
import { MAX_ASKED } from "./asked_hook.ts";
import { openLevel } from "./open_level.ts";
import { idParam, type OpenLevelContext } from "./request/request_context.ts";
import type { TextAnswer } from "./request/answer.ts";
import { pathOf } from "./request/response.ts";
import { createsOnly } from "./request/versions.ts";
import { performWrite } from "./perform_write.ts";
import { writeOnce } from "./write.ts";

const MAX_ATTEMPTS = 5;

/** If another request writes the entity first, the PUT starts again. */
export async function performReplacement(
  context: OpenLevelContext,
  given: JsonObject,
): Promise<TextAnswer> {
  const body = withKey(context, given);
  const isUnbound = !createsOnly(context) && context.match !== "any";
  const direct = isUnbound ? await performWrite(context, { body }) : undefined;
  if (direct !== undefined) {
    const status = direct.created === undefined ? 200 : 201;
    return located(context, { kind: "text", status, ...direct });
  }
  let isTaken = false;
  // An error aborts a transaction of MongoDB, so a batch has one attempt.
  const mostAttempts = fieldHookOf(context.level.hooks.postFetch) === undefined
    ? MAX_ATTEMPTS
    : MAX_ASKED;
  const most = sharedSession() === undefined ? mostAttempts : 1;
  for (let tries = 1;; tries++) {
    try {
      const opened = tries === 1 ? context : await openLevel(context);
      // Another request has stored the entity, but it is hidden, or its parent does not refer to it yet. A creation
      // would fail again, so the PUT waits for its next attempt.
      const isHidden = isTaken && tries < most && await isAbsent(opened);
      if (!isHidden) {
        const fetched = await fetchOne(opened);
        return located(context, await writeOnce(opened, { body, fetched }));
      }
    } catch (error) {
      isTaken = isKeyTaken(context, error);
      const isRepeated = context.match === undefined && isLost(error);
      if (!isTaken && !isRepeated) throw error;
      if (tries === most) throw isTaken ? notFound() : error;
    }
    await context.timeBudget.wait(pauseBeforeRetry(tries));
  }
}

async function isAbsent(context: OpenLevelContext): Promise<boolean> {
  if (context.level.hooks.fetch !== undefined) return false;
  return await (await prepareEntitiesRead(context)).one(idParam(context)) === null;
}

function withKey(context: OpenLevelContext, body: JsonObject): JsonObject {
  const { shape, hooks, writes: { by = "_id" } = {} } = context.level;
  const field = shape.fields.get(by);
  const text = idParam(context);
  const key = castKeyInPath(text, { by, shape });
  if (key === undefined) {
    if (hooks.fetch !== undefined) return body;
    throw notFound();
  }
  if (Object.hasOwn(body, by)) {
    const problem = context.route.strict.bodies && field !== undefined
      ? typeProblem(body[by], { field, path: by })
      : undefined;
    if (problem !== undefined) throw badData({ [by]: problem });
    const own = castKey(body[by], field);
    if (own === undefined || storedText(own) !== storedText(key)) {
      const message = `Value at "${by}" is not that of the path`;
      throw badData({ [by]: { message, kind: "key" } });
    }
  }
  return { ...body, [by]: text };
}

function isKeyTaken(context: OpenLevelContext, error: unknown): boolean {
  const { MongoServerError } = mongoose.mongo;
  return error instanceof MongoServerError && error.code === 11000 &&
    duplicateFields(error, [context.level.target]).join() ===
      (context.level.writes?.by ?? "_id") &&
    isDuplicateIn(error, [context.level.target]) !== false;
}

/** `Location` is the path of `one()`, or else of the request. */
function located(
  { req, level: { writes } }: OpenLevelContext,
  { created, ...answer }: TextAnswer,
): TextAnswer {
  if (created === undefined) return answer;
  const path = pathOf(req);
  const parent = path.slice(0, path.lastIndexOf("/") + 1);
  const Location = writes?.isRead ? `${parent}${encodeURIComponent(created)}` : path;
  return { ...answer, headers: { ...answer.headers, Location } };
}
