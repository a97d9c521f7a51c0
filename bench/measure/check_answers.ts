import { CREATED, guarded, HOOK_KINDS, HOOKED, itemsOf } from "../plan/collections.ts";
import { LEAN_HOOKED, TARGETS, UPDATED } from "../plan/collections.ts";
import { type ItemBody, itemBody, itemId, itemPatch } from "../plan/items.ts";
import type { RunningServer } from "../setup/running_server.ts";
import { checkPages } from "./check_pages.ts";

/** An entity as a server answers it. */
type Answer = Partial<ItemBody> & { readonly _id?: string; readonly id?: string };

/** Lists of these sizes are compared; longer ones by their length, while they are measured. */
const COMPARED = [20, 1_000, 10_000] as const;

const FIELDS: readonly (keyof ItemBody)[] = [
  "title",
  "text",
  "author",
  "stars",
  "price",
  "published",
  "created",
  "tags",
];

/**
 * Holds a server's answers against the entities that were seeded.
 *
 * @param running The server.
 * @param index Its number: each server updates an entity of its own.
 * @returns What is wrong; `undefined` for nothing.
 */
export async function checkAnswers(
  running: RunningServer,
  index: number,
): Promise<string | undefined> {
  const lists = COMPARED.map((size) => ({ name: itemsOf(size), size: size as number }));
  const { features } = running.ready;
  if (features.includes("hook")) lists.push({ name: HOOKED, size: TARGETS });
  if (features.includes("lean-hook")) lists.push({ name: LEAN_HOOKED, size: TARGETS });
  const kinds = HOOK_KINDS.filter((kind) => features.includes(kind));
  lists.push(...kinds.map((kind) => ({ name: guarded(kind, itemsOf(TARGETS)), size: TARGETS })));
  for (const { name, size } of lists) {
    const answer = await ask<Answer[]>(running, "GET", name);
    const expected = Array.from({ length: size }, (_, i) => textOf(itemId(i), itemBody(i)));
    if (!Array.isArray(answer)) return `${name} is no array`;
    if (answer.map(show).sort().join() !== expected.sort().join()) return `${name} differs`;
  }
  return await checkOne(
    running,
    `${itemsOf(TARGETS)}/${itemId(7)}`,
    textOf(itemId(7), itemBody(7)),
  ) ??
    await checkCreate(running) ?? await checkUpdate(running, index) ?? await checkPages(running);
}

async function checkOne(
  running: RunningServer,
  path: string,
  expected: string,
): Promise<string | undefined> {
  const answer = show(await ask<Answer>(running, "GET", path));
  return answer === expected ? undefined : `${path} differs`;
}

async function checkCreate(running: RunningServer): Promise<string | undefined> {
  const body = itemBody(3);
  const answer = await ask<Answer>(running, "POST", CREATED, body);
  const id = idOf(answer);
  if (show(answer) !== textOf(id, body)) return "the answer to a create differs";
  return await checkOne(running, `${CREATED}/${id}`, textOf(id, body));
}

async function checkUpdate(running: RunningServer, index: number): Promise<string | undefined> {
  const id = itemId(index);
  const patch = itemPatch(index);
  const path = `${UPDATED}/${id}`;
  const expected = textOf(id, { ...itemBody(index), ...patch });
  const answer = await ask<Answer>(running, running.server.kind.update, path, patch);
  if (show(answer) !== expected) return "the answer to an update differs";
  return await checkOne(running, path, expected);
}

async function ask<T>(
  { ready }: RunningServer,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${ready.port}/${path}`, {
    method,
    ...body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return JSON.parse(text);
}

/** Some call the identifier `id`, some leave out the version: the rest is compared. */
function show(answer: Answer): string {
  return textOf(idOf(answer), answer);
}

function idOf({ _id, id }: Answer): string {
  return String(_id ?? id);
}

function textOf(id: string, body: Partial<ItemBody>): string {
  return JSON.stringify([id, ...FIELDS.map((field) => body[field])]);
}
