import mongoose from "mongoose";
import { KeyRecord } from "../database/key_record.ts";
import { HookFailure, runHook } from "../declare/hooks/run_hook.ts";
import { OPERATIONS } from "../declare/operations/operation.ts";
import { BulkError } from "../errors/bulk_error.ts";
import { badFormat, isLocked, LOCKED, notFound, refusal } from "../errors/refusals.ts";
import { copyDocument } from "../write/stored_values.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { fetchOne } from "./fetch.ts";
import { countSelected, openLevel } from "./open_level.ts";
import { versionBefore } from "./read.ts";
import { mapAll } from "./lists/map_in_order.ts";
import { enterLevel, foreignRequest } from "./request/call.ts";
import type { Call, LevelCall, OpenLevel } from "./request/call.ts";
import { knownAnswer } from "./request/reporter.ts";
import { hashOf, readKey } from "./request/idempotency_key.ts";
import { pathOf, type Reply } from "./request/reply.ts";
import type { WriteRules } from "./request/route.ts";
import { passHook, passPreFetch } from "./pass_hooks.ts";
import { answerWritten } from "./write.ts";
import { answerCreated } from "./write_many.ts";

/** The time after which a request with a key counts as lost, unless requests may take longer. */
const LOST_MS = 30_000;

type KeyRules = NonNullable<WriteRules["idempotency"]>;

export function keyOf({ acting: { level }, req }: Call): string | undefined {
  const rules = level.writes?.idempotency;
  if (rules === undefined) return undefined;
  const key = readKey(req);
  if (key !== undefined || !rules.isRequired) return key;
  throw badFormat(`The header "Idempotency-Key" is required`);
}

interface KeyedCreation {
  readonly key: string;
  readonly bodyHash: string | undefined;
  readonly count: number | undefined;
  readonly create: () => Promise<Reply>;
}

/** Creates entities once for a key. A repetition gets what was created, as its reader may see it now. */
export async function createOnce(
  acting: OpenLevel,
  { key, bodyHash = "", count, create }: KeyedCreation,
): Promise<Reply> {
  const { timeBudget, route, level, source, req } = acting;
  const { keepMS, by } = level.writes?.idempotency as KeyRules;
  const { db } = await acting.model();
  const lostMS = Math.max(LOST_MS, route.maxTimeMS * 2);
  const name = hashOf(JSON.stringify([pathOf(req), await callerOf(acting, by), key]));
  const ids = Array.from({ length: count ?? 1 }, () => new mongoose.Types.ObjectId());
  const use = { name, body: bodyHash, ids, keepMS, lostMS, timeBudget };
  const record = await KeyRecord.claim(db, use);
  checkUse(record, lostMS);
  const again = () => replay(acting, { ids: record.ids, isMany: count !== undefined });
  if (record.state === "done") return await again();
  const isMade = async () => (await source.resume(record.ids)).length > 0;
  if (record.state === "resumed" && await isMade()) return await record.finish().then(again);
  acting.opened.key = record;
  try {
    const reply = await create();
    if (!record.isFinished) await record.finish();
    return reply;
  } catch (error) {
    const { status = 500 } = knownAnswer(acting, error) ?? {};
    if (record.isFinished) throw error;
    if (status >= 500) {
      // This request has written nothing, or the one before was lost long ago.
      if (isLocked(error) || record.state === "resumed") await record.release();
      throw error;
    }
    // Middleware may refuse what is stored already. Where that is not known, the key is left as it is.
    const isStored = await isMade().catch(() => undefined);
    if (isStored === false) await record.free();
    if (!isStored) throw error;
    await record.finish();
    // Another request has gone on with what this one was too slow for.
    if (record.isLost || isDuplicate(error)) return await again();
    throw error;
  }
}

/** Throws if another body has the key, or a request that is under way. */
function checkUse({ state, ageMS }: KeyRecord, lostMS: number): void {
  if (state === "misused") {
    throw refusal("UNPROCESSABLE_ENTITY", { message: "The key was used with another body" });
  }
  if (state === "busy") throw underWay(lostMS, ageMS);
}

/** Gives the name of the caller. Anything but a text would make callers equal that are not. */
async function callerOf({ req }: OpenLevel, by: KeyRules["by"]): Promise<string> {
  if (by === undefined) return "";
  const caller: unknown = await runHook("by", () => by(req));
  if (typeof caller === "string") return caller;
  const problem = `"idempotency.by" gave no string`;
  throw new HookFailure("by", new TypeError(`Cannot tell whose a key is: ${problem}`));
}

/** Waits get longer the longer the other request takes, until it counts as lost. */
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

/** Answers with what is still there for its reader. */
async function replay(
  acting: OpenLevel,
  { ids, isMany }: { readonly ids: readonly unknown[]; readonly isMany: boolean },
): Promise<Reply> {
  const names = ids.map(String);
  if (isMany) {
    const seen = await mapAll(names, async (id) => {
      try {
        return (await readCreated(acting, id)).seen;
      } catch (error) {
        if (knownAnswer(acting, error)?.status === 404) return undefined;
        throw error;
      }
    });
    enterLevel(acting);
    return await answerCreated(acting, seen);
  }
  const [id = ""] = names;
  const { seen, ...version } = await readCreated(acting, id);
  enterLevel(acting);
  const created = acting.level.parameter === undefined ? "" : id;
  return await answerWritten(acting, { entity: seen, isNew: true, created, ...version });
}

/** Reads an entity as `one()` beside the creation shows it to its reader. */
async function readCreated(acting: OpenLevel, id: string) {
  const { level, route: { reader }, req, state } = acting;
  const { parameter } = level;
  const params = Object.assign({}, req.params, parameter && { [parameter]: id });
  const { hooks } = reader ?? { hooks: {} };
  const { reads: _reads, writes: _writes, ...others } = level;
  const at: LevelCall = {
    ...acting,
    req: foreignRequest(req, { params }),
    level: { ...others, hooks, operation: "one", kind: OPERATIONS.one },
    asked: {},
    opened: {},
    state: {
      ...{ filter: {}, options: {}, projection: {}, operation: "one", model: state.model },
      count: () => countSelected(at),
    },
  };
  await passPreFetch({ levels: [at], req: at.req });
  const opened = await openLevel(at);
  const early = await versionBefore(opened);
  const { entity, seen, version, holder } = await fetchOne(opened);
  // A place that holds one entity may hold another one by now.
  const { _id = id } = entity as { _id?: unknown };
  if (String(_id) !== id || await isRefusedBy(opened, seen)) throw notFound();
  return { seen, version: early ?? version ?? null, holder };
}

/** Whether `one()` would not send an entity. The answer is made by the hook of the creation. */
async function isRefusedBy(opened: OpenLevel, seen: object): Promise<boolean> {
  if (opened.level.hooks.preSend === undefined) return false;
  const entity = isDocument(seen)
    ? copyDocument(seen)
    : Object.assign(Object.create(Object.getPrototypeOf(seen)), seen);
  return await passHook(opened, "preSend", { entity }) === undefined;
}
