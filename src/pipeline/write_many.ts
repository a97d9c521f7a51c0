import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { isPromise } from "../declare/hooks/run_hook.ts";
import { TurnPacer } from "../errors/event_loop.ts";
import { badFormat, type Problems } from "../errors/refusals.ts";
import { toJson } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { InsertedEach, ItemResult } from "../sources/source.ts";
import { fetchOne } from "./fetch.ts";
import { mapAll } from "./lists/map_in_order.ts";
import { persistEach } from "./persist.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import { isMinimal } from "./request/preferences.ts";
import type { Reply } from "./request/reply.ts";
import { errorAnswer } from "./request/reporter.ts";
import { performWrite } from "./perform_write.ts";
import { passHook } from "./pass_hooks.ts";
import {
  type Draft,
  idOf,
  mergeDraft,
  passPreSave,
  refusalsOf,
  refuseProblems,
  write,
} from "./write.ts";

const NO_OBJECT = "The element is not a JSON object";

/**
 * Creates an entity from each element of a body. Either all entities are created or none. With `atomic: false`, each
 * entity is created by itself, and the answer has a result for each element.
 */
export async function writeMany(
  context: OpenLevelContext,
  elements: readonly unknown[],
): Promise<Reply> {
  if (elements.length === 0) return { status: 201, text: "[]" };
  if (context.level.writes?.atomic === false) {
    const results = await writeEach(context, elements);
    return { status: 207, text: toJson(await describeResults(context, results)) };
  }
  const result = elements.every(isJsonObject)
    ? await performWrite(context, { bodies: elements, isAtomic: true })
    : undefined;
  return result === undefined ? await writeTogether(context, elements) : { status: 201, ...result };
}

/**
 * Creates entities together. Every entity passes its hooks before the first write, so a hook that refuses one entity
 * stops all writes.
 */
async function writeTogether(
  context: OpenLevelContext,
  elements: readonly unknown[],
): Promise<Reply> {
  const { level: { hooks }, source, cache: { key } } = context;
  const others: Problems = {};
  const opened = await mapAll([...elements.entries()], async ([index, body]) => {
    if (isJsonObject(body)) return { index, body, seen: (await fetchOne(context)).seen };
    others[index] = { message: NO_OBJECT, kind: "object" };
    return undefined;
  });
  const drafts = await mapAll(
    opened,
    ({ index, body, seen }) => mergeDraft(context, seen, { body, at: `${index}.`, isNew: true }),
  );
  await refuseProblems(context, drafts, others);
  const ready = await mapAll(drafts, (draft) => passPreSave(context, draft));
  await key?.keep(ready);
  const saved = hooks.persist === undefined
    ? await source.insertAll(ready)
    : await persistEach(context, ready.map((entity) => ({ entity })));
  await key?.finish(ready);
  return await answerCreated(context, saved);
}

export async function answerCreated(
  context: OpenLevelContext,
  saved: readonly object[],
): Promise<Reply> {
  const sent = await mapAll(saved, (entity) => passHook(context, "preSend", { entity }));
  if (isMinimal(context)) return { status: 201 };
  const texts = await mapAll(sent, (each) => toJson(each, context.level.shape));
  return { status: 201, text: `[${texts.join()}]` };
}

/**
 * Creates an entity from each body, and returns the results in the order of the bodies. A failure of one body does not
 * stop the others.
 */
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
  const written = link?.embedded
    ? await writeInOrder(context, left)
    : isAlone
    ? await mapAll(left, (body) => writeAlone(context, body))
    : await insertEach(context, left);
  const next = written.values();
  return bodies.map((_, index) => results[index] ?? next.next().value ?? {});
}

/** Creates embedded entities one after the other. Each write changes the document of the parent, which keeps their order. */
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

/**
 * The state of a new entity on its way through the hooks. After its first error, the entity passes no further step, and
 * the error becomes its result.
 */
interface Attempt {
  readonly body: unknown;
  readonly seen?: object;
  readonly draft?: Draft;
  readonly ready?: object;
  readonly error?: unknown;
}

/**
 * Creates entities by one statement. The hooks of all entities up to `preSave` run before the statement. A failure of
 * one entity does not stop the others.
 */
async function insertEach(
  context: OpenLevelContext,
  bodies: readonly unknown[],
): Promise<ItemResult[]> {
  const { level, source } = context;
  const opened = await attemptEach(bodies.map((body) => ({ body })), async () => {
    return { seen: (await fetchOne(context)).seen };
  });
  const merged = await attemptEach(opened, ({ body, seen }) => {
    if (!isJsonObject(body)) throw badFormat(NO_OBJECT);
    return { draft: mergeDraft(context, seen as object, { body, at: "", isNew: true }) };
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
      await passHook(context, "preSend", { entity: sent?.get(index) ?? entity });
      return { _id: idOf(entity, level) };
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

/**
 * Runs the next step for each new entity that has no error yet. An error of the step is kept for this entity, so that
 * the other entities go on.
 */
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

export interface DescribedResult {
  readonly status: number;
}

/**
 * Returns the result of each element for the answer. The result has the status and the body that a request with only
 * this element would get.
 */
export async function describeResults(
  context: OpenLevelContext,
  results: readonly ItemResult[],
): Promise<DescribedResult[]> {
  const told: DescribedResult[] = [];
  const pacer = new TurnPacer();
  for (const { error, ...result } of results) {
    if (pacer.isDue) await pacer.rest();
    told.push(
      error === undefined ? { status: 201, ...result } : await describeError(context, error),
    );
  }
  return told;
}

export async function describeError(
  context: OpenLevelContext,
  error: unknown,
): Promise<DescribedResult> {
  const { status, body } = await errorAnswer(context, error);
  return { ...body, status };
}
