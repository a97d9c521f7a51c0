import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import { readSort } from "../../filter/selection.ts";
import { directSupport } from "../../sources/direct/direct_support.ts";
import { openLevel } from "../open_level.ts";
import { openPopulation } from "../references/population.ts";
import type { Call, LevelCall, OpenLevel } from "../request/call.ts";
import { hasEntityHooks } from "../run_direct.ts";

/** A request that can read its list as often as the list changes. */
export interface LiveReading {
  readonly at: OpenLevel;
  /** Runs a read as a part of the request. */
  readonly run: <T>(read: () => Promise<T>) => Promise<T>;
  /** The model whose collection has the entities; `undefined` where a parent embeds them. */
  readonly model: Model<unknown> | undefined;
  /** Tells all that decides on what the list shows; `undefined` where that is not known. */
  readonly key: string | undefined;
  /** Whether equal requests may get what it reads. */
  readonly isShared: boolean;
  /** Whether its entities have an order, or those outside of it come in when others leave. */
  readonly isOrdered: boolean;
  /** Whether time alone may change what it selects. */
  readonly isTimed: boolean;
}

/** Opens the list of a request whose `preFetch` hooks have passed. Its reads go to the primary, which knows all changes. */
export async function openReading({ acting, levels }: Call): Promise<LiveReading> {
  for (const { state } of levels) state.options = { ...state.options, readPreference: "primary" };
  const opened = await openLevel(acting);
  const at = Object.assign(opened, { finder: await openPopulation(opened) });
  const { level, finder, asked: { order, page }, state: { options: { sort, skip, limit } } } = at;
  const query = await at.source.query?.();
  const model = level.link?.embedded ? undefined : await at.model();
  const key = query && keyOf(at, query);
  const conditions = bytesOf(query?.filter).toString("latin1");
  return {
    ...{ at, run: AsyncLocalStorage.snapshot(), model, key },
    // Middleware of Mongoose may know of the request.
    isShared: key !== undefined && !hasEntityHooks(level) && finder === undefined &&
      at.above === undefined && model !== undefined &&
      directSupport(model, level.shape).reads !== undefined,
    isOrdered: [order, page, readSort(sort), skip ?? undefined, limit ?? undefined]
      .some((each) => each !== undefined) || /\$near/.test(conditions),
    isTimed: /\$(expr|where)/.test(conditions),
  };
}

type Conditions = NonNullable<Awaited<ReturnType<NonNullable<OpenLevel["source"]["query"]>>>>;

/** Writes what decides on what a list shows; `undefined` where two requests could differ in more than what is written. */
function keyOf(
  { level, asked, state }: LevelCall,
  { filter, model }: Conditions,
): string | undefined {
  const { page, order, select, populate } = asked;
  const { options, projection } = state;
  const told = [filter, options, projection, page, order, select, populate && [...populate.keys()]]
    .map((each) => each ?? null);
  if (!told.every(isData)) return undefined;
  const hash = createHash("sha256").update(bytesOf(told)).digest("base64");
  return `${numberOf(level)} ${numberOf(model)} ${hash}`;
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(mongoose.mongo.BSON.serialize({ value }));
}

/** Whether a value is what its BSON tells: a function, an undefined value or an object of a class may be more. */
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

const numbers = new WeakMap<object, number>();

let lastNumber = 0;

function numberOf(each: object): number {
  const number = numbers.get(each) ?? ++lastNumber;
  numbers.set(each, number);
  return number;
}
