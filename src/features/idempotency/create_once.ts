import mongoose from "mongoose";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isLocked } from "../../store/in_transaction.ts";
import { HookFailure, runHook } from "../../declare/hooks/run_hook.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { LOCKED, misusedKey, notFound, refusal } from "../../errors/refusals.ts";
import type { WrappedOperation } from "../../pipeline/feature.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import { mapAll } from "../../sources/lists/map_in_order.ts";
import { countSelected, openLevel } from "../../pipeline/open_level.ts";
import { passGuard } from "../../pipeline/pass_guard.ts";
import { passHook, passPreFetch } from "../../pipeline/pass_hooks.ts";
import { NO_PIECES } from "../../pipeline/pieces.ts";
import { versionBefore } from "../../pipeline/read.ts";
import { pathOf, type Reply } from "../../pipeline/request/reply.ts";
import { knownAnswer } from "../../pipeline/request/reporter.ts";
import { enterLevel, requestView } from "../../pipeline/request/request_context.ts";
import type { LevelContext, OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { answerCreated, answerWritten } from "../../pipeline/write.ts";
import { type Filter, isEmpty } from "../../filter/filters.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { hasUsualId, isGivenId } from "../../schema/mongoose/schemas/field_rules.ts";
import { castKey } from "../../sources/entities.ts";
import { copyDocument } from "../../write/stored_values.ts";
import { hashOf } from "./idempotency_key.ts";
import { KeyRecord } from "./key_record.ts";

/**
 * A request counts as lost after this time, for example because its process has crashed. A repeated request may then
 * create the entities.
 */
const LOST_MS = 30_000;

export interface KeyRules {
  readonly keepMS: number;
  readonly isRequired: boolean;
  /**
   * An idempotency key is valid only for the client that used it first. Without the function, two clients with equal
   * keys would get the answers of each other.
   */
  readonly caller: ((req: FrameworkRequest) => string) | undefined;
}

export interface KeyUse {
  readonly key: string;
  /** The hash shows whether a repeated request has another body than the first request. */
  readonly bodyHash: string;
  readonly rules: KeyRules;
}

/** A repeated request creates nothing, and its answer shows the created entities as its client may see them now. */
export async function createOnce(
  { context, run }: WrappedOperation,
  { key, bodyHash, rules: { keepMS, caller } }: KeyUse,
): Promise<Reply> {
  const { timeBudget, route, source, req, pieces: { creations: count } } = context;
  const { db } = await context.model();
  const lostMS = Math.max(LOST_MS, route.maxTimeMS * 2);
  const place = [pathOf(req), await callerOf(context, caller), key, ...presentIn(context)];
  const name = hashOf(JSON.stringify(place));
  const { isGiven, ids } = await identifiersOf(context, count ?? 1);
  const use = { name, body: bodyHash, ids, keepMS, lostMS, timeBudget };
  const record = await KeyRecord.claim(db, use);
  checkUse(record, lostMS);
  const again = () => replay(context, { ids: record.ids, isMany: count !== undefined });
  if (record.state === "done") return await again();
  // An entity with an identifier that the client gives may be of another request, so its presence tells nothing. A
  // repeated request then tries to create it, and the identifier prevents a second entity.
  const isMade = async () => !isGiven && (await source.resume(record.ids)).length > 0;
  if (record.state === "resumed" && await isMade()) return await record.finish().then(again);
  context.cache.claim = record;
  try {
    const reply = await run();
    if (!record.isFinished) await record.finish();
    return reply;
  } catch (error) {
    const { status = 500 } = knownAnswer(context, error) ?? {};
    if (record.isFinished) throw error;
    if (status >= 500) {
      // After an error of the server, the entities may be stored, so the key is kept until this request counts as lost.
      // The key is released at once if a lock has stopped this request before it wrote anything, or if this request has
      // taken over the key of a lost request.
      if (isLocked(error) || record.state === "resumed") await record.release();
      throw error;
    }
    // Middleware of Mongoose may throw an error after the entity is stored. Without the record of the key, a repeated
    // request would create the entity again.
    const isStored = await isMade().catch(() => undefined);
    if (isStored === false) await record.free();
    if (!isStored) throw error;
    await record.finish();
    // This request was slow, so another request has taken over its key and has created the entities.
    if (record.isLost || isDuplicate(error)) return await again();
    throw error;
  }
}

async function identifiersOf(
  { level: { shape }, source, req }: OpenLevelContext,
  count: number,
): Promise<{ readonly isGiven: boolean; readonly ids: readonly unknown[] }> {
  const { schema, fields } = shape;
  if (schema !== undefined && isGivenId(schema)) {
    const ids = [req.body as unknown].flat().map((body) =>
      castKey((Object(body) as JsonObject)._id, fields.get("_id")) ?? null
    );
    return { isGiven: true, ids };
  }
  if (schema === undefined || hasUsualId(schema)) {
    const ids = Array.from({ length: count }, () => new mongoose.Types.ObjectId());
    return { isGiven: false, ids };
  }
  const made = await mapAll(Array.from({ length: count }), () => source.newEntity());
  return { isGiven: false, ids: made.map((entity) => source.identify(entity)) };
}

/**
 * Requests with different filters do not share idempotency keys, so that no tenant gets the answer of another tenant.
 */
function presentIn({ cache: { present = {} }, above }: LevelContext): Filter[] {
  return [...above === undefined ? [] : presentIn(above), ...isEmpty(present) ? [] : [present]];
}

/** Two requests with one key that run at the same time could both create the entities. */
function checkUse({ state, ageMS }: KeyRecord, lostMS: number): void {
  if (state === "misused") throw misusedKey();
  if (state === "busy") throw underWay(lostMS, ageMS);
}

/** Other values than a text may be equal for two clients. */
async function callerOf({ req }: OpenLevelContext, callback: KeyRules["caller"]): Promise<string> {
  if (callback === undefined) return "";
  const caller: unknown = await runHook("caller", () => callback(req));
  if (typeof caller === "string") return caller;
  const problem = `"idempotency.caller" gave no string`;
  throw new HookFailure("caller", new TypeError(`Cannot tell whose a key is: ${problem}`));
}

/**
 * The waiting time in `Retry-After` grows with the age of the running request, so that clients do not repeat the
 * request too often.
 */
function underWay(lostMS: number, ageMS: number) {
  const seconds = Math.ceil(Math.min(Math.max(ageMS, 1000), Math.max(lostMS - ageMS, 1000)) / 1000);
  const message = "The key is locked: another request with it is under way";
  const headers = { "Retry-After": String(seconds) };
  return refusal("CONFLICT", { message, ...LOCKED }, { headers });
}

function isDuplicate(error: unknown): boolean {
  const { code } = Object(error instanceof BulkError ? error.cause : error) as { code?: unknown };
  return code === 11000;
}

/** The answer shows the created entities that still exist and that the client may see. */
async function replay(
  context: OpenLevelContext,
  { ids, isMany }: { readonly ids: readonly unknown[]; readonly isMany: boolean },
): Promise<Reply> {
  const names = ids.map(String);
  if (isMany) {
    const seen = await mapAll(names, async (id) => {
      try {
        return (await readCreated(context, id)).seen;
      } catch (error) {
        if (knownAnswer(context, error)?.status === 404) return undefined;
        throw error;
      }
    });
    enterLevel(context);
    return await answerCreated(context, seen);
  }
  const [id = ""] = names;
  const { seen, ...version } = await readCreated(context, id);
  enterLevel(context);
  const created = context.level.parameter === undefined ? "" : id;
  return await answerWritten(context, { entity: seen, isNew: true, created, ...version });
}

/** The hooks and the scopes of `one()` of the same resource apply. */
async function readCreated(context: OpenLevelContext, id: string) {
  const { level, route, req, state } = context;
  const { parameter } = level;
  const { reader } = route;
  const params = Object.assign({}, req.params, parameter && { [parameter]: id });
  // Without `one()`, the guard has decided about the creation alone.
  const { hooks, isOpen } = reader ?? { hooks: {}, isOpen: true };
  const { writes: _writes, ...others } = level;
  const ofOne: LevelContext = {
    ...context,
    req: requestView(req, { params }),
    level: { ...others, hooks, isOpen, operation: "one", kind: OPERATIONS.one },
    match: undefined,
    hookConditions: undefined,
    active: [],
    lead: undefined,
    pieces: NO_PIECES,
    cache: {},
    state: {
      filter: {},
      options: {},
      projection: {},
      operation: "one",
      weight: 0,
      model: state.model,
      ...state.actor !== undefined && { actor: state.actor },
      count: () => countSelected(ofOne),
    },
  };
  await passGuard({ route, context: ofOne, req: ofOne.req });
  await passPreFetch({ levels: [ofOne], req: ofOne.req });
  const opened = await openLevel(ofOne);
  const early = await versionBefore(opened);
  const { entity, seen, version, parentId } = await fetchOne(opened);
  // A path without an identifier leads to the only entity of a parent. Another request may have replaced the created
  // entity, so the answer is 404.
  const { _id = id } = entity as { _id?: unknown };
  if (String(_id) !== id || await isRefusedBy(opened, seen)) throw notFound();
  return { seen, version: early ?? version ?? null, parentId };
}

/**
 * The hook gets a copy, because it may change the entity, and the `preSend` hook of `create()` gets the unchanged
 * entity.
 */
async function isRefusedBy(opened: OpenLevelContext, seen: object): Promise<boolean> {
  if (opened.level.hooks.preSend === undefined) return false;
  const entity = isDocument(seen)
    ? copyDocument(seen)
    : Object.assign(Object.create(Object.getPrototypeOf(seen)), seen);
  return await passHook(opened, "preSend", { entity }) === undefined;
}
