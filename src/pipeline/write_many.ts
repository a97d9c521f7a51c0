import { badFormat, type Problems } from "../errors/refusals.ts";
import type { JsonPiece } from "../json/bytes/json_writer.ts";
import { toJson } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { Fate } from "../sources/source.ts";
import type { BodyLine } from "../write/body/read_body.ts";
import { mapAll } from "./lists/map_in_order.ts";
import { persistEach } from "./persist.ts";
import type { OpenLevel } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";
import { isOver, type Reply } from "./request/reply.ts";
import { errorAnswer } from "./request/reporter.ts";
import { runDirect } from "./run_direct.ts";
import { passHook } from "./pass_hooks.ts";
import { openDraft, passPreSave, refuseProblems, write } from "./write.ts";

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
  const drafts = await mapAll([...elements.entries()], ([index, body]) => {
    if (isJsonObject(body)) return openDraft(acting, body, `${index}.`);
    others[index] = { message: NO_OBJECT, kind: "object" };
    return undefined;
  });
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
  const texts = sent.map((each) => toJson(each, acting.level.shape));
  return { status: 201, text: `[${texts.join()}]` };
}

async function writeEach(
  acting: OpenLevel,
  bodies: readonly unknown[],
): Promise<readonly Fate[]> {
  const { fates = [] } = bodies.every(isJsonObject)
    ? await runDirect(acting, { bodies, isAtomic: false }) ?? {}
    : {};
  return await mapAll([...bodies.entries()], ([index, body]) => {
    return fates[index] ?? writeAlone(acting, body);
  });
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

interface ToldFate {
  readonly status: number;
}

/** Tells what became of each element, as if it had been the only one. */
async function toldFates(acting: OpenLevel, fates: readonly Fate[]): Promise<ToldFate[]> {
  const told: ToldFate[] = [];
  for (const { error, ...fate } of fates) {
    told.push(error === undefined ? { status: 201, ...fate } : await toldError(acting, error));
  }
  return told;
}

export async function toldError(acting: OpenLevel, error: unknown): Promise<ToldFate> {
  const { status, body } = await errorAnswer(acting, error);
  return { ...body, status };
}

/** Creates an entity of each line of a body. What keeps the database from writing a batch ends the import. */
export async function* importLines(
  acting: OpenLevel,
  batches: AsyncIterable<readonly BodyLine[]>,
): AsyncGenerator<JsonPiece> {
  const least = isMinimal(acting) ? 400 : 0;
  let begun = false;
  for await (const lines of batches) {
    acting.timeBudget.renew();
    const { told, isLast } = await writeLines(acting, lines);
    if (isOver(acting.req)) return;
    for (const [index, fate] of told.entries()) {
      if (fate.status < least) continue;
      if (begun) yield "\n";
      begun = true;
      yield toJson({ line: lines[index]?.line, ...fate });
    }
    if (isLast) return;
  }
}

async function writeLines(
  acting: OpenLevel,
  lines: readonly BodyLine[],
): Promise<{ readonly told: readonly ToldFate[]; readonly isLast: boolean }> {
  try {
    const written = await writeEach(acting, lines.flatMap(({ body }) => body ?? []));
    const next = written.values();
    const fates = lines.map(({ body, error }): Fate =>
      body === undefined ? { error } : next.next().value ?? {}
    );
    return { told: await toldFates(acting, fates), isLast: acting.timeBudget.expired };
  } catch (error) {
    const fate = await toldError(acting, error);
    return { told: lines.map(() => fate), isLast: true };
  }
}
