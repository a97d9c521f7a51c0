/** The comparison of servers' answers with the seeded entities. @module */
import * as data from "./data.ts";
import { itemBody, itemId, itemsOf, TARGETS } from "./data.ts";
import type { RunningServer } from "./programs.ts";
import { PAGE_20, POPULATED_50, WITH_TOTAL } from "./scenarios.ts";
import { hasFeature, type Page } from "./servers.ts";

/** An entity. Some servers call the identifier `id`. */
type Entity = Readonly<Record<string, unknown>>;

/** An answer of @terreno/api has an object around it. */
type Wrapped<T> = T | { readonly data: T };

function bare<T>(answer: Wrapped<T>): T {
  return typeof answer === "object" && answer !== null && "data" in answer ? answer.data : answer;
}

/** A page: an array, or the object of Feathers, remult or @terreno/api around it. */
type PageAnswer = readonly Entity[] | {
  readonly data?: readonly Entity[];
  readonly items?: readonly Entity[];
  readonly total?: number;
  readonly aggregates?: { readonly $count: number };
};

/** The lists of items: the capability that the route needs, the route, and the number of items. */
const LISTS: readonly (readonly [feature: string, path: string, size: number])[] = [
  ...[20, 1_000, 10_000].map((size) => ["", itemsOf(size), size] as const),
  ["hook", data.HOOKED, TARGETS],
  ["lean-hook", data.LEAN_HOOKED, TARGETS],
];

const FIELDS = ["title", "text", "author", "stars", "price", "published", "created", "tags"];

/**
 * Compares lists, one entity, a create, an update and pages.
 *
 * @param index The number of the server. Each server updates another entity.
 * @param uri The database. Classes with options are served only from a replica set.
 * @throws {Error} If an answer differs.
 */
export async function checkAnswers(
  running: RunningServer,
  { index, uri }: { readonly index: number; readonly uri: string },
): Promise<void> {
  const { kind } = running.server;
  for (const [feature, path, size] of LISTS) {
    if (!hasFeature(kind, feature)) continue;
    const { answer } = await ask<Wrapped<Entity[]>>(running, path);
    const expected = Array.from({ length: size }, (_, i) => ({ _id: itemId(i), ...itemBody(i) }));
    compare(path, bare(answer).map(textOf).sort(), expected.map(textOf).sort());
  }
  const compareOne = async (path: string, expected: Entity, method = "GET", body?: object) => {
    const init = { method, body: body ? JSON.stringify(body) : null };
    const answer = bare((await ask<Wrapped<Entity>>(running, path, init)).answer);
    const _id = expected._id ?? idOf(answer);
    compare(`${method} ${path}`, textOf(answer), textOf({ ...expected, _id }));
    return _id;
  };
  await compareOne(`${itemsOf(TARGETS)}/${itemId(7)}`, { _id: itemId(7), ...itemBody(7) });
  const id = await compareOne(data.CREATED, itemBody(3), "POST", itemBody(3));
  await compareOne(`${data.CREATED}/${id}`, { _id: id, ...itemBody(3) });
  const patch = data.itemPatch(index);
  const updated = { _id: itemId(index), ...itemBody(index), ...patch };
  await compareOne(`${data.UPDATED}/${itemId(index)}`, updated, kind.update, patch);
  await compareOne(`${data.UPDATED}/${itemId(index)}`, updated);
  const hasOptions = hasFeature(kind, "options") && uri.includes("replicaSet=");
  for (const option of hasOptions ? data.CLASS_OPTIONS : []) {
    const route = data.owned(option);
    await compareOne(`${route}/${itemId(7)}`, { _id: itemId(7), ...itemBody(7) });
    await compareOne(route, itemBody(3), "POST", itemBody(3));
    await compareOne(`${route}/${itemId(index)}`, updated, kind.update, patch);
    await compareOne(`${route}/${itemId(index)}`, updated);
  }
  if (hasFeature(kind, "page")) await checkPage(running, PAGE_20);
  if (hasFeature(kind, "populate")) await checkPage(running, POPULATED_50);
}

async function checkPage(running: RunningServer, page: Page): Promise<void> {
  const { method, path, body } = running.server.kind.askPage(page);
  const headers = page.isPopulated ? {} : WITH_TOTAL;
  const init = { method, headers, body: body || null };
  const { answer, response } = await ask<PageAnswer>(running, path.slice(1), init);
  const [entities, total] = "length" in answer
    ? [answer, response.headers.get("x-total-count")]
    : [answer.data ?? answer.items ?? [], answer.total ?? answer.aggregates?.$count];
  const indexes = Array.from({ length: data.RANKED_COUNT }, (_, index) => index)
    .sort((a, b) => data.rankOf(b) - data.rankOf(a)).slice(0, page.size);
  const expected = indexes.map((index) => {
    const _id = itemId(data.writerOf(index));
    const writer = page.isPopulated ? { _id, ...data.writerBody(data.writerOf(index)) } : _id;
    return { _id: itemId(index), ...data.rankedBody(index), writer };
  });
  compare(path, entities.map(textOf), expected.map(textOf));
  if (!page.isPopulated) compare(`the total of ${path}`, Number(total), data.RANKED_COUNT);
}

async function ask<T>(
  { port }: RunningServer,
  path: string,
  init: RequestInit = {},
): Promise<{ answer: T; response: Response }> {
  const headers = { "content-type": "application/json", ...init.headers };
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return { answer: JSON.parse(text), response };
}

function compare(name: string, answer: unknown, expected: unknown): void {
  if (JSON.stringify(answer) !== JSON.stringify(expected)) throw new Error(`${name} differs`);
}

/** Returns the fields that all servers have. Some leave out the version. */
function textOf(entity: Entity): string {
  const { rank, writer } = entity;
  const shown = writer && typeof writer === "object" ? writer as Entity : undefined;
  const fields = [idOf(entity), ...FIELDS.map((field) => entity[field]), rank];
  const { name, about, joined } = shown ?? {};
  return JSON.stringify([...fields, shown ? [idOf(shown), name, about, joined] : writer]);
}

function idOf({ _id, id }: Entity): unknown {
  return _id ?? id;
}
