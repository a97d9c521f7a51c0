import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { isPromise } from "../declare/hooks/run_hook.ts";
import { TurnPacer } from "../errors/event_loop.ts";
import { badFormat, type Problems } from "../errors/refusals.ts";
import { toJson } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { Fate, InsertedEach } from "../sources/source.ts";
import { fetchOne } from "./fetch.ts";
import { mapAll } from "./lists/map_in_order.ts";
import { persistEach } from "./persist.ts";
import type { OpenLevel } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";
import type { Reply } from "./request/reply.ts";
import { errorAnswer } from "./request/reporter.ts";
import { runDirect } from "./run_direct.ts";
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

/** Creates an entity of each element of a body: all or none, or each one by itself. */
export async function writeMany(acting: OpenLevel, elements: readonly unknown[]): Promise<Reply> {
  if (elements.length === 0) return { status: 201, text: "[]" };
  if (acting.level.writes?.atomic === false) {
    const fates = await writeEach(acting, elements);
    return { status: 207, text: toJson(await toldFates(acting, fates)) };
  }
  const result = elements.every(isJsonObject)
    ? await runDirect(acting, { bodies: elements, isAtomic: true })
    : undefined;
  return result === undefined ? await writeTogether(acting, elements) : { status: 201, ...result };
}

/** Every entity passes its hooks before the first one is written: if one is refused, none is written. */
async function writeTogether(acting: OpenLevel, elements: readonly unknown[]): Promise<Reply> {
  const { level: { hooks }, source, opened: { key } } = acting;
  const others: Problems = {};
  const opened = await mapAll([...elements.entries()], async ([index, body]) => {
    if (isJsonObject(body)) return { index, body, seen: (await fetchOne(acting)).seen };
    others[index] = { message: NO_OBJECT, kind: "object" };
    return undefined;
  });
  const drafts = await mapAll(
    opened,
    ({ index, body, seen }) => mergeDraft(acting, seen, { body, at: `${index}.`, isNew: true }),
  );
  await refuseProblems(acting, drafts, others);
  const ready = await mapAll(drafts, (draft) => passPreSave(acting, draft));
  await key?.keep(ready);
  const saved = hooks.persist === undefined
    ? await source.insertAll(ready)
    : await persistEach(acting, ready.map((entity) => ({ entity })));
  await key?.finish(ready);
  return await answerCreated(acting, saved);
}

export async function answerCreated(
  acting: OpenLevel,
  saved: readonly object[],
): Promise<Reply> {
  const sent = await mapAll(saved, (entity) => passHook(acting, "preSend", { entity }));
  if (isMinimal(acting)) return { status: 201 };
  const texts = await mapAll(sent, (each) => toJson(each, acting.level.shape));
  return { status: 201, text: `[${texts.join()}]` };
}

/** Creates an entity of each body by itself. */
export async function writeEach(
  acting: OpenLevel,
  bodies: readonly unknown[],
): Promise<readonly Fate[]> {
  const { fates = [] } = bodies.every(isJsonObject)
    ? await runDirect(acting, { bodies, isAtomic: false }) ?? {}
    : {};
  const others = [...bodies.entries()].filter(([index]) => fates[index] === undefined);
  const { source, level: { hooks } } = acting;
  const left = others.map(([, body]) => body);
  const written = source.insertEach === undefined || hooks.persist !== undefined
    ? await mapAll(left, (body) => writeAlone(acting, body))
    : await insertEach(acting, left);
  const next = written.values();
  return bodies.map((_, index) => fates[index] ?? next.next().value ?? {});
}

async function writeAlone(acting: OpenLevel, body: unknown): Promise<Fate> {
  try {
    if (!isJsonObject(body)) throw badFormat(NO_OBJECT);
    const { created } = await write(acting, body);
    return { ...created !== undefined && { _id: created } };
  } catch (error) {
    return { error };
  }
}

/** A new entity on its way through the hooks; nothing follows its first error. */
interface Attempt {
  readonly body: unknown;
  readonly seen?: object;
  readonly draft?: Draft;
  readonly ready?: object;
  readonly error?: unknown;
}

/** Creates entities by one statement, each by itself. All of their hooks up to `preSave` have run before it. */
async function insertEach(acting: OpenLevel, bodies: readonly unknown[]): Promise<Fate[]> {
  const { level, source } = acting;
  const opened = await attemptEach(bodies.map((body) => ({ body })), async () => {
    return { seen: (await fetchOne(acting)).seen };
  });
  const merged = await attemptEach(opened, ({ body, seen }) => {
    if (!isJsonObject(body)) throw badFormat(NO_OBJECT);
    return { draft: mergeDraft(acting, seen as object, { body, at: "", isNew: true }) };
  });
  const refusals = await refusalsOf(acting, merged.flatMap(({ draft }) => draft ?? []));
  const passed = await attemptEach(merged, async ({ draft }) => {
    const error = refusals.get(draft as Draft);
    return error ? { error } : { ready: await passPreSave(acting, draft as Draft) };
  });
  const ready = passed.flatMap(({ ready, error }) => error === undefined ? ready ?? [] : []);
  const { errors, shown } = await source.insertEach?.(ready) ?? NOTHING_INSERTED;
  const sent = level.hooks.preSend === undefined ? undefined : await shown();
  const entries = [...ready.entries()];
  const fates = await mapAll(entries, async ([index, entity]): Promise<Fate> => {
    if (errors.has(index)) return { error: errors.get(index) };
    try {
      await passHook(acting, "preSend", { entity: sent?.get(index) ?? entity });
      return { _id: idOf(entity, level) };
    } catch (error) {
      return { error };
    }
  });
  const next = fates.values();
  return passed.map(({ error }) => error === undefined ? next.next().value ?? {} : { error });
}

const NOTHING_INSERTED: InsertedEach = {
  errors: new Map(),
  shown: () => Promise.resolve(new Map()),
};

/** Takes each attempt that has not failed one step further. */
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

export interface ToldFate {
  readonly status: number;
}

/** Tells what became of each element, as if it had been the only one. */
export async function toldFates(
  acting: OpenLevel,
  fates: readonly Fate[],
): Promise<ToldFate[]> {
  const told: ToldFate[] = [];
  const pacer = new TurnPacer();
  for (const { error, ...fate } of fates) {
    if (pacer.isDue) await pacer.rest();
    told.push(error === undefined ? { status: 201, ...fate } : await toldError(acting, error));
  }
  return told;
}

export async function toldError(acting: OpenLevel, error: unknown): Promise<ToldFate> {
  const { status, body } = await errorAnswer(acting, error);
  return { ...body, status };
}
