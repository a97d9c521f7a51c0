import mongoose from "mongoose";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isLockError } from "../../store/in_transaction.ts";
import { HookFailure, runHook } from "../../declare/hooks/run_hook.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { LOCKED, misusedKey, notFound, refusal } from "../../errors/refusals.ts";
import type { WrappedOperation } from "../../pipeline/feature.ts";
import { type Fetched, fetchOne, prepareEntitiesRead } from "../../pipeline/fetch.ts";
import { mapAll } from "../../sources/lists/map_in_order.ts";
import { countSelected, openLevel } from "../../pipeline/open_level.ts";
import { passGuard } from "../../pipeline/pass_guard.ts";
import { passHook, passPreFetch } from "../../pipeline/pass_hooks.ts";
import { NO_PIECES } from "../../pipeline/pieces.ts";
import { versionBefore } from "../../pipeline/read.ts";
import type { Answer, TextAnswer } from "../../pipeline/request/answer.ts";
import { pathOf } from "../../pipeline/request/response.ts";
import { translatedAnswer } from "../../pipeline/request/reporter.ts";
import { readVersion, type VersionRead } from "../../pipeline/request/versions.ts";
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

/** After this time, a request has probably crashed, so a repeated request may create the entities. */
const LOST_MS = 30_000;

export interface IdempotencyConfig {
  readonly keepMS: number;
  readonly isRequired: boolean;
  /** Without the function, two clients with equal keys would get each other's answers. */
  readonly caller: ((req: FrameworkRequest) => string) | undefined;
}

export interface KeyUse {
  readonly key: string;
  readonly bodyHash: string;
  readonly config: IdempotencyConfig;
}

/** A repeated request is answered as its client may see the entities now. */
export async function createOnce(
  { context, run }: WrappedOperation,
  { key, bodyHash, config: { keepMS, caller } }: KeyUse,
): Promise<Answer> {
  const { timeBudget, route, source, req, pieces: { creations } } = context;
  const { db } = await context.model();
  const lostMS = Math.max(LOST_MS, route.maxTimeMS * 2);
  const place = [pathOf(req), await callerOf(context, caller), key, ...classConditionsOf(context)];
  const name = hashOf(JSON.stringify(place));
  const { isGiven, ids } = await identifiersOf(context, creations?.length ?? 1);
  const use = { name, body: bodyHash, ids, keepMS, lostMS, timeBudget };
  const record = await KeyRecord.claim(db, use);
  checkUse(record, lostMS);
  const again = () => replay(context, { record, isMany: creations !== undefined });
  if (record.state === "done") return await again();
  // A stored entity with an identifier from the client may be of another request. Creating again is safe, because `_id`
  // is unique.
  const isMade = async () => !isGiven && (await source.resume(record.ids)).length > 0;
  if (record.state === "resumed" && await isMade()) return await record.finish().then(again);
  try {
    const answer = await run({ ...context, claim: record, source: source.joining(record) });
    if (!record.isFinished) await record.finish();
    if (answer.status === 204) await record.hide();
    return answer;
  } catch (error) {
    const { status = 500 } = translatedAnswer(context, error) ?? {};
    if (record.isFinished) throw error;
    if (status >= 500) {
      // The entities may still be stored, so the key stays locked for `LOST_MS`. But a lock error means that nothing is
      // stored, and a resumed key has been locked for that time already.
      if (isLockError(error) || record.state === "resumed") await record.release();
      throw error;
    }
    // Middleware of Mongoose may throw after the entity is stored, which a repeated request would create again.
    const isStored = await isMade().catch(() => undefined);
    if (isStored === false) await record.free();
    if (!isStored) throw error;
    await record.finish();
    // This request was slow, and another has taken over its key and created the entities.
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

/** Conditions such as the tenant are hashed with the key, so that two tenants can use the same key. */
function classConditionsOf({ selection, above }: OpenLevelContext): Filter[] {
  const { classConditions = {} } = selection;
  return [
    ...above === undefined ? [] : classConditionsOf(above),
    ...isEmpty(classConditions) ? [] : [classConditions],
  ];
}

/** Two requests with one key at the same time could both create the entities. */
function checkUse({ state, ageMS }: KeyRecord, lostMS: number): void {
  if (state === "misused") throw misusedKey();
  if (state === "busy") throw underWay(lostMS, ageMS);
}

/** Only strings are allowed: two clients could have equal strings of other values, and get each other's answers. */
async function callerOf(
  { req }: OpenLevelContext,
  callback: IdempotencyConfig["caller"],
): Promise<string> {
  if (callback === undefined) return "";
  const caller: unknown = await runHook("caller", () => callback(req));
  if (typeof caller === "string") return caller;
  const problem = `"idempotency.caller" gave no string`;
  throw new HookFailure("caller", new TypeError(`Cannot tell whose a key is: ${problem}`));
}

/** `Retry-After` grows with the age of the running request, so that clients repeat it less often. */
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

async function replay(
  context: OpenLevelContext,
  { record: { ids, isHidden }, isMany }: { readonly record: KeyRecord; readonly isMany: boolean },
): Promise<TextAnswer> {
  const names = ids.map(String);
  if (isMany) {
    const passed = await mapAll(names, async (id) => {
      try {
        return (await readCreated(context, { id })).passed;
      } catch (error) {
        if (translatedAnswer(context, error)?.status === 404) return undefined;
        throw error;
      }
    });
    enterLevel(context);
    return await answerCreated(context, passed);
  }
  const [id = ""] = names;
  const { passed, version = null, parentId } = await readCreated(context, { id, isHidden });
  enterLevel(context);
  const created = context.level.parameter === undefined ? "" : id;
  return await answerWritten(context, { entity: passed, isNew: true, created, version, parentId });
}

/** A repeated request shows an entity only as `one()` of the same resource shows it. */
async function readCreated(
  context: OpenLevelContext,
  { id, isHidden = false }: { readonly id: string; readonly isHidden?: boolean },
): Promise<Partial<Fetched> & VersionRead> {
  const { level, route, req, state } = context;
  const { parameter } = level;
  const { reader } = route;
  const params = Object.assign({}, req.params, parameter && { [parameter]: id });
  // The guard has decided only about the creation, so it runs again for `one()`.
  const { hooks, isOpen } = reader ?? { hooks: {}, isOpen: true };
  const { writes: _writes, ...others } = level;
  const ofOne: LevelContext = {
    ...context,
    req: requestView(req, { params }),
    level: { ...others, hooks, isOpen, operation: "one", traits: OPERATIONS.one },
    match: undefined,
    hookConditions: undefined,
    active: [],
    exclusive: undefined,
    pieces: NO_PIECES,
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
  if (isHidden && await isHiddenByMiddleware(opened, id)) {
    return { version: await readVersion(opened, id), parentId: undefined };
  }
  const early = await versionBefore(opened);
  const { entity, passed, version, parentId } = await fetchOne(opened);
  // A parent with a single entity may have another by now, which this client has not created.
  const { _id = id } = entity as { _id?: unknown };
  if (String(_id) !== id || await isRefusedBy(opened, passed)) throw notFound();
  return { passed, version: early ?? version ?? null, parentId };
}

async function isHiddenByMiddleware(opened: OpenLevelContext, id: string): Promise<boolean> {
  if (opened.level.hooks.fetch !== undefined) return false;
  const stored = await opened.source.readStored(id, ["_id"]);
  if (String(stored?._id) !== id) return false;
  return await (await prepareEntitiesRead(opened)).one(id) === null;
}

/** `preSend` of `one()` gets a copy, so that its changes do not reach `preSend` of `create()`. */
async function isRefusedBy(opened: OpenLevelContext, passed: object): Promise<boolean> {
  if (opened.level.hooks.preSend === undefined) return false;
  const entity = isDocument(passed)
    ? copyDocument(passed)
    : Object.assign(Object.create(Object.getPrototypeOf(passed)), passed);
  return await passHook(opened, "preSend", { entity }) === undefined;
}
