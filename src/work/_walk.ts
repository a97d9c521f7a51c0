import mongoose from "mongoose";
import type { Connection, Model, Schema } from "mongoose";
import { createHash } from "node:crypto";
import { describeModel } from "../declare/model/describe_model.ts";
import { FrameworkModel, type ModelClass } from "../declare/model/framework_model.ts";
import { errorText } from "../errors/error_text.ts";
import { isFailure } from "../errors/failure.ts";
import { logHint, logLine } from "../errors/log.ts";
import { isGroup, wrongOption } from "../errors/option_kinds.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { features } from "../features.ts";
import { untypedModel } from "../schema/get_model.ts";
import { haveSameDatabase, isStandalone } from "../schema/mongoose/connections.ts";
import { isUnavailable } from "../store/failure_of.ts";
import type { Lease } from "../store/lease.ts";
import { pause } from "../store/pause.ts";
import { AS_STORED, type StoredObject, storedText } from "../store/values.ts";
import { type ChangeFunction, ChangeWriter } from "./_change_writer.ts";
import { noteUnlessLost } from "./_held_lease.ts";
import type { Each, EachResult, StoredModel } from "./each.ts";

const PORTION = 100;

/** Parallel writes save much time, because each one waits for most members of the replica set. */
const AT_ONCE = 10;

const AGAIN_MS = 1000;

const LOG_MS = 10_000;

export interface WalkProgress extends EachResult {
  readonly collection: string;
  /** The hash of the filter and the function. If the next attempt passes others, this progress is not used. */
  readonly work: string;
  /** The `_id` of the last entity, in its BSON type. */
  readonly after?: unknown;
  readonly isDone?: boolean;
}

export interface WalkContext {
  readonly connection: Connection;
  readonly migration: string;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  /** The progress of an interrupted attempt, by the number of the call of `each()`. */
  readonly progress: Readonly<Record<string, WalkProgress>>;
}

/** Also returns the promises of all calls, because a migration may forget to await some. */
export function makeEach(
  context: WalkContext,
): { readonly each: Each; readonly calls: readonly Promise<EachResult>[] } {
  const calls: Promise<EachResult>[] = [];
  const start = async (
    call: number,
    [target, filter, change, options = {}]: Parameters<Each>,
  ): Promise<EachResult> => {
    const model = modelOf(target, context);
    if (!isGroup(filter)) throw cannotWalk(model, "the filter is not an object");
    if (typeof change !== "function") throw cannotWalk(model, "the change is not a function");
    const addedStatements = statementsFor(target, { model, options });
    const writer = new ChangeWriter({
      ...context,
      model,
      filter: { $and: [kindOf(model), filter] },
      change: change as ChangeFunction,
      addedStatements,
    });
    const work = hashOf(filter, change);
    return await walk({ ...context, model, writer, call, work });
  };
  const each = (...given: unknown[]) => {
    const result = start(calls.length, given as Parameters<Each>);
    // The attempt of the migration reports the rejection. Until then, it would count as unhandled.
    result.catch(() => {});
    calls.push(result);
    return result;
  };
  return { each, calls };
}

function hashOf(filter: object, change: Parameters<Each>[2]): string {
  return createHash("sha256").update(storedText(filter)).update(String(change)).digest("hex");
}

function cannotWalk({ modelName }: StoredModel, problem: string): TypeError {
  return new TypeError(`Cannot change each "${modelName}": ${problem}`);
}

function modelOf(target: ModelClass | StoredModel, { connection }: WalkContext): Model<unknown> {
  if (isClass(target)) return untypedModel(target, connection);
  if (!(Object(target).prototype instanceof mongoose.Model)) {
    throw new TypeError("Cannot change each entity: the first argument is no class and no model");
  }
  const model = target as unknown as Model<unknown>;
  if (haveSameDatabase(model.db as Connection, connection)) return model;
  throw cannotWalk(model, `its database is not "${connection.name}", which the migration changes`);
}

function isClass(target: ModelClass | StoredModel): target is ModelClass {
  return Object(target).prototype instanceof FrameworkModel;
}

function statementsFor(
  target: ModelClass | StoredModel,
  { model, options }: {
    readonly model: Model<unknown>;
    readonly options: NonNullable<Parameters<Each>[3]>;
  },
) {
  const unknown = unknownOption(options, { history: true });
  const wrong = unknown === undefined
    ? wrongOption(options, { history: "boolean" })
    : `there is no option ${unknown}`;
  if (wrong !== undefined) throw cannotWalk(model, wrong);
  if (options.history !== true) return undefined;
  if (!isClass(target) || !describeModel(target).rests.some(({ history }) => history)) {
    throw cannotWalk(model, `it is no class whose @rest has "history"`);
  }
  if (isStandalone(model.db as Connection)) {
    throw cannotWalk(model, `"history" needs a replica set`);
  }
  return features.addedStatementsOf(target, "migrate");
}

/** A discriminator shares its collection with other models, so its entities need a condition. */
function kindOf({ schema }: Model<unknown>): object {
  const { discriminatorMapping: mapping } = schema as Schema & {
    readonly discriminatorMapping?: {
      readonly key: string;
      readonly value: unknown;
      readonly isRoot: boolean;
    };
  };
  return mapping === undefined || mapping.isRoot ? {} : { [mapping.key]: mapping.value };
}

interface Walk extends WalkContext {
  readonly model: Model<unknown>;
  readonly writer: ChangeWriter;
  readonly call: number;
  readonly work: string;
}

async function walk(context: Walk): Promise<EachResult> {
  const { model, migration, lease, call, work, signal } = context;
  const { name: collection } = model.collection;
  const known = context.progress[call];
  let progress: WalkProgress = known?.collection === collection && known.work === work
    ? known
    : { collection, work, seen: 0, changed: 0 };
  const log = ({ seen, changed }: EachResult) =>
    logLine(`Migration "${migration}": ${changed} of ${seen} entities of "${collection}" changed`);
  for (let loggedAt = performance.now(); !progress.isDone;) {
    progress = await walkPortion(progress, context);
    const fields = { [`progress.${call}`]: { $literal: progress } };
    if (!await noteUnlessLost(lease, fields)) signal.throwIfAborted();
    if (progress.isDone || performance.now() - loggedAt < LOG_MS) continue;
    loggedAt = performance.now();
    log(progress);
  }
  log(progress);
  return { seen: progress.seen, changed: progress.changed };
}

/** Begins a portion anew after a failure of the database, unless another process has the lease. */
async function walkPortion(before: WalkProgress, context: Walk): Promise<WalkProgress> {
  const { migration, signal } = context;
  for (let isTold = false;; isTold = true) {
    signal.throwIfAborted();
    try {
      return await tryPortion(before, context);
    } catch (error) {
      if (signal.aborted || !isUnavailable(error) && !isFailure(error, "away")) throw error;
      if (!isTold) logHint(`Migration "${migration}" waits for the database: ${errorText(error)}`);
      await pause(AGAIN_MS, signal);
    }
  }
}

async function tryPortion(
  { collection, work, after, ...before }: WalkProgress,
  { model, writer, signal }: Walk,
): Promise<WalkProgress> {
  // Outside of `$expr`, `$gt` would skip each `_id` of another type.
  const later = after === undefined ? {} : { $expr: { $gt: ["$_id", { $literal: after }] } };
  const options = {
    ...AS_STORED,
    promoteValues: false,
    signal,
    readPreference: "primary",
  } as const;
  const cursor = model.collection.find({ $and: [later, writer.filter] }, options)
    .sort({ _id: 1 }).limit(PORTION);
  let [{ seen, changed }, last, read] = [before, after, 0];
  let group: StoredObject[] = [];
  const flush = async () => {
    const results = await Promise.allSettled(group.map((each) => writer.change(each)));
    for (const result of results) {
      if (result.status === "rejected") throw result.reason;
      if (result.value) changed++;
    }
    seen += group.length;
    group = [];
  };
  for await (const stored of cursor) {
    [last, read] = [stored._id, read + 1];
    group.push(stored);
    if (group.length === AT_ONCE) await flush();
  }
  await flush();
  const progress = { collection, work, seen, changed, after: last };
  return read < PORTION ? { ...progress, isDone: true } : progress;
}
