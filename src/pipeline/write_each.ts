import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { isPromise } from "../declare/hooks/run_hook.ts";
import { badFormat } from "../errors/refusals.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { InsertedEach, ItemResult } from "../sources/source.ts";
import { fetchOne } from "./fetch.ts";
import { mapAll } from "../sources/lists/map_in_order.ts";
import { passHookAfterWrite } from "./pass_hooks.ts";
import { performWrite } from "./perform_write.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import { createdId, type Draft, mergeDraft, passPreSave, refusalsOf, write } from "./write.ts";

export const NO_OBJECT = "The element is not a JSON object";

export async function writeEach(
  context: OpenLevelContext,
  bodies: readonly unknown[],
): Promise<readonly ItemResult[]> {
  const { results: results = [] } = bodies.every(isJsonObject)
    ? await performWrite(context, { bodies, isAtomic: false }) ?? {}
    : {};
  const others = [...bodies.entries()].filter(([index]) => results[index] === undefined);
  const { source, level: { hooks, link } } = context;
  const left = others.map(([, body]) => body);
  const isAlone = source.insertEach === undefined || hooks.persist !== undefined;
  const written = link !== undefined && hooks.persist === undefined
    ? await writeInOrder(context, left)
    : isAlone
    ? await mapAll(left, (body) => writeAlone(context, body))
    : await insertDrafts(context, left);
  const next = written.values();
  return bodies.map((_, index) => results[index] ?? next.next().value ?? {});
}

/** Parallel writes to one parent would conflict and lose the order. */
async function writeInOrder(
  context: OpenLevelContext,
  bodies: readonly unknown[],
): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  for (const body of bodies) results.push(await writeAlone(context, body));
  return results;
}

async function writeAlone(context: OpenLevelContext, body: unknown): Promise<ItemResult> {
  try {
    if (!isJsonObject(body)) throw badFormat(NO_OBJECT);
    const { created } = await write(context, body);
    return { ...created !== undefined && { _id: created } };
  } catch (error) {
    return { error };
  }
}

/** After its first error, an entity takes part in no further step. */
interface Attempt {
  readonly body: unknown;
  readonly passed?: object;
  readonly draft?: Draft;
  readonly ready?: object;
  readonly error?: unknown;
}

/** All hooks up to `preSave` run first, so that one statement can insert the entities. */
async function insertDrafts(
  context: OpenLevelContext,
  bodies: readonly unknown[],
): Promise<ItemResult[]> {
  const { level, source } = context;
  const opened = await attemptEach(bodies.map((body) => ({ body })), async () => {
    return { passed: (await fetchOne(context)).passed };
  });
  const merged = await attemptEach(opened, ({ body, passed }) => {
    if (!isJsonObject(body)) throw badFormat(NO_OBJECT);
    return { draft: mergeDraft(context, passed as object, { body, at: "", isNew: true }) };
  });
  const refusals = await refusalsOf(context, merged.flatMap(({ draft }) => draft ?? []));
  const passed = await attemptEach(merged, async ({ draft }) => {
    const error = refusals.get(draft as Draft);
    return error ? { error } : { ready: await passPreSave(context, draft as Draft) };
  });
  const ready = passed.flatMap(({ ready, error }) => error === undefined ? ready ?? [] : []);
  const { errors, shown } = await source.insertEach?.(ready) ?? NOTHING_INSERTED;
  const sent = level.hooks.preSend === undefined ? undefined : await shown();
  const entries = [...ready.entries()];
  const results = await mapAll(entries, async ([index, entity]): Promise<ItemResult> => {
    if (errors.has(index)) return { error: errors.get(index) };
    try {
      await passHookAfterWrite(context, "preSend", { entity: sent?.get(index) ?? entity });
      return { _id: createdId(entity, level) };
    } catch (error) {
      return { error };
    }
  });
  const next = results.values();
  return passed.map(({ error }) => error === undefined ? next.next().value ?? {} : { error });
}

const NOTHING_INSERTED: InsertedEach = {
  errors: new Map(),
  shown: () => Promise.resolve(new Map()),
};

function attemptEach(
  all: readonly Attempt[],
  step: (attempt: Attempt) => MaybePromise<Partial<Attempt>>,
): Promise<Attempt[]> {
  return mapAll(all, (attempt) => {
    if (attempt.error !== undefined) return attempt;
    const failed = (error: unknown) => ({ ...attempt, error });
    try {
      const done = step(attempt);
      if (!isPromise(done)) return { ...attempt, ...done };
      return Promise.resolve(done).then((more) => ({ ...attempt, ...more }), failed);
    } catch (error) {
      return failed(error);
    }
  });
}
