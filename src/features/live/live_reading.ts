import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import mongoose, { type Model } from "mongoose";
import { readSort } from "../../filter/selection.ts";
import { MARGIN_MS, TimeBudget } from "../../store/time_budget.ts";
import { andThen } from "../../declare/hooks/run_hook.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { ModelQuery } from "../../declare/operations/action.ts";
import { StoreFailure } from "../../errors/failure.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import { toJson } from "../../json/to_json.ts";
import { prepareRead } from "../../pipeline/fetch.ts";
import { mapInOrder } from "../../sources/lists/map_in_order.ts";
import { fillWindow } from "../../pipeline/lists/fill_window.ts";
import { openLevel, preparePieces } from "../../pipeline/open_level.ts";
import { planLevel } from "../../pipeline/plan_level.ts";
import { entityTexts, inBatches, showEntity } from "../../pipeline/read.ts";
import type {
  Call,
  LevelContext,
  OpenLevelContext,
} from "../../pipeline/request/request_context.ts";
import type { ReadPlan } from "../../sources/collection/plan_read.ts";
import type { PageRead } from "../../sources/source.ts";
import type { LiveEntity } from "./list_events.ts";

/** Each read runs as the request of a subscriber, and shows only entities that the subscriber may see. */
export interface LiveSource {
  readonly context: OpenLevelContext;
  readonly max: number;
  /** Runs a read in the asynchronous context of the request, so that hooks find middleware's `AsyncLocalStorage`. */
  readonly run: <T>(read: () => Promise<T>) => Promise<T>;
  /** `undefined` for embedded entities, because the changes of parents are watched in any case. */
  readonly model: Model<unknown> | undefined;
  /** Equal for requests that read the same list. `undefined` if they cannot be recognized. */
  readonly key: string | undefined;
  readonly isShared: boolean;
  /** Whether a change of one entity may move others, so that the whole list is read again. */
  readonly isOrdered: boolean;
  /** With the time in `$expr`, entities enter or leave without a write, so each check of rights reads the list. */
  readonly isTimed: boolean;
}

/** Call this after the `preFetch` hooks. Reads go to the primary, because a secondary may not have the change yet. */
export async function makeLiveSource(
  { context: acting, levels }: Call,
  max: number,
): Promise<LiveSource> {
  for (const { state } of levels) state.options = { ...state.options, readPreference: "primary" };
  const context = await preparePieces(await openLevel(acting));
  const { level, pieces: { fills, order, window }, state: { options: { sort, skip, limit } } } =
    context;
  const query = await context.source.query?.();
  const model = level.link?.embedded ? undefined : await context.model();
  const key = query && keyOf(context, query);
  const conditions = bytesOf(query?.filter).toString("latin1");
  return {
    context,
    max,
    run: AsyncLocalStorage.snapshot(),
    model,
    key,
    // Middleware of Mongoose may return other entities for another request, so only reads without Mongoose documents
    // are shared.
    isShared: key !== undefined && fills === undefined && context.above === undefined &&
      model !== undefined && isReadAlike(planLevel(level, model)),
    isOrdered: [order, window, readSort(sort), skip ?? undefined, limit ?? undefined]
      .some((each) => each !== undefined) || /\$near/.test(conditions),
    isTimed: /\$(expr|where)/.test(conditions),
  };
}

/** Hooks see the request, so they may show another list to each reader. */
function isReadAlike(plan: ReadPlan): boolean {
  return plan.kind === "bytes" && !plan.runsHooks;
}

function keyOf(
  { level, pieces, state }: LevelContext,
  { filter, model }: ModelQuery<FrameworkModel>,
): string | undefined {
  const { window, order, shown, fills } = pieces;
  const { options, projection } = state;
  const part = window && [window.limit, window.skip, window.after ?? null];
  const parts = [filter, options, projection, part, order, shown, fills && [...fills.names]]
    .map((each) => each ?? null);
  if (!parts.every(isData)) return undefined;
  const hash = createHash("sha256").update(bytesOf(parts)).digest("base64");
  return `${nameOf(level)} ${nameOf(model)} ${hash}`;
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(mongoose.mongo.BSON.serialize({ value }));
}

/** BSON omits functions, `undefined` and classes, so two different requests could share a list by mistake. */
function isData(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol" || value === undefined) return false;
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof Date || value instanceof RegExp || Buffer.isBuffer(value)) return true;
  if ("_bsontype" in value) return true;
  if (Array.isArray(value)) return value.every(isData);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) &&
    Object.values(value).every(isData);
}

const names = new WeakMap<object, string>();

function nameOf(each: object): string {
  const name = names.get(each) ?? randomUUID();
  names.set(each, name);
  return name;
}

export async function readEntities(
  context: OpenLevelContext,
  { ids, max }: {
    readonly ids?: readonly unknown[];
    readonly max: number;
  },
): Promise<LiveEntity[]> {
  const timeBudget = new TimeBudget(context.route.maxTimeMS + MARGIN_MS);
  const reading = { ...context, timeBudget, source: context.source.within({ timeBudget, ids }) };
  const page = await context.pieces.window?.locate(reading);
  const most = page?.limit ?? Infinity;
  const found: LiveEntity[] = [];
  for await (const texts of textsOf(reading, page)) {
    for (const text of texts) if (found.length < most) found.push({ id: idIn(text), text });
    if (found.length > max) throw new StoreFailure({ kind: "tooMany", limit: max });
  }
  return found;
}

async function* textsOf(
  context: OpenLevelContext,
  page: PageRead | undefined,
): AsyncGenerator<readonly JsonPiece[]> {
  const read = await prepareRead(context);
  if (read.kind === "bytes") yield* read.each(page);
  else if (page !== undefined) {
    yield await entityTexts(context, (await fillWindow(context, { read, page })).values ?? []);
  } else {
    const show = (entity: object) =>
      andThen(showEntity(context, entity), (shown) => {
        const { _id } = entity as { readonly _id?: unknown };
        if (shown !== undefined && idOf(shown) !== toJson(_id)) throw unnamed();
        return shown;
      });
    const shown = mapInOrder(read.list(), show);
    for await (const values of inBatches(context, shown)) yield await entityTexts(context, values);
  }
}

function idIn(text: JsonPiece): string {
  const json = typeof text === "string"
    ? text
    : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
  const [, id] = /^\{"_id":("[0-9a-f]{24}")/.exec(json) ?? [];
  return id ?? idOf(JSON.parse(json));
}

function idOf(entity: unknown): string {
  const { _id } = Object(entity) as { readonly _id?: unknown };
  if (_id === undefined) throw unnamed();
  return JSON.stringify(_id);
}

function unnamed(): TypeError {
  return new TypeError(
    "Cannot send a live list: a hook shows an entity without its _id, by which clients tell entities apart",
  );
}
