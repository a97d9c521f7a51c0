/** The comparison of servers' answers with the seeded entities. @module */
import { request } from "../tests/harness/request.ts";
import * as data from "./data.ts";
import { itemBody, itemId, itemsOf, TARGETS } from "./data.ts";
import type { RunningServer } from "./programs.ts";
import { PAGE_20, POPULATED_50, type Traffic } from "./scenarios.ts";
import { hasFeature, trafficOf } from "./servers.ts";

type Entity = Readonly<Record<string, unknown>>;

/** Some servers call the identifier `id`. */
const idOf = ({ _id, id }: Entity) => _id ?? id;
const entityOf = (index: number): Entity => ({ _id: itemId(index), ...itemBody(index) });

/** The lists of items: the route, the number of items, and the capability that the route needs. */
const LISTS: readonly (readonly [path: string, size: number, feature?: string])[] = [
  ...[20, 1_000, 10_000].map((size) => [itemsOf(size), size] as const),
  [data.HOOKED, TARGETS, "hook"],
  [data.LEAN_HOOKED, TARGETS, "lean-hook"],
];

const FIELDS = ["title", "text", "author", "stars", "price", "published", "created", "tags"];

/**
 * Compares lists, one entity, a create, an update and pages. Throws if an answer differs. Each server updates the entity with
 * its number. Classes with options are served only from a replica set.
 */
export async function checkAnswers({ port, server }: RunningServer, index: number, uri: string) {
  for (const [path, size, feature] of LISTS) {
    if (!hasFeature(server, feature)) continue;
    const { found } = await ask(port, { paths: [`/${path}`] });
    const expected = Array.from({ length: size }, (_, index) => entityOf(index));
    compare(path, found.map(textOf).sort(), expected.map(textOf).sort());
  }
  const compareOne = async (method: string, path: string, expected: Entity, body?: object) => {
    const bodies = body ? [JSON.stringify(body)] : [];
    const { found } = await ask(port, { method, paths: [`/${path}`], bodies });
    const _id = expected._id ?? idOf(found);
    compare(`${method} ${path}`, textOf(found), textOf({ ...expected, _id }));
    return _id;
  };
  const patch = data.itemPatch(index);
  const updated = { ...entityOf(index), ...patch };
  const hasOptions = hasFeature(server, "options") && uri.includes("replicaSet=");
  const owned = hasOptions ? data.CLASS_OPTIONS.map(data.owned) : [];
  const routes = owned.map((each) => [each, each, each]);
  routes.push([itemsOf(TARGETS), data.CREATED, data.UPDATED]);
  for (const [read, create, update] of routes) {
    await compareOne("GET", `${read}/${itemId(7)}`, entityOf(7));
    const id = await compareOne("POST", `${create}`, itemBody(3), itemBody(3));
    await compareOne("GET", `${create}/${id}`, { _id: id, ...itemBody(3) });
    await compareOne(server.update, `${update}/${itemId(index)}`, updated, patch);
    await compareOne("GET", `${update}/${itemId(index)}`, updated);
  }
  for (const [feature, traffic] of [["page", PAGE_20], ["populate", POPULATED_50]] as const) {
    if (!hasFeature(server, feature)) continue;
    const { found, total } = await ask(port, trafficOf(server, traffic));
    compare(feature, found.map(textOf), pageOf(traffic).map(textOf));
    if (feature === "page") compare("the total of a page", Number(total), data.RANKED_COUNT);
  }
}

function pageOf({ page }: Traffic): Entity[] {
  const indexes = Array.from({ length: data.RANKED_COUNT }, (_, index) => index)
    .sort((a, b) => data.rankOf(b) - data.rankOf(a)).slice(0, page?.size);
  return indexes.map((index) => {
    const _id = itemId(data.writerOf(index));
    const writer = page?.isPopulated ? { _id, ...data.writerBody(data.writerOf(index)) } : _id;
    return { _id: itemId(index), ...itemBody(index), rank: data.rankOf(index), writer };
  });
}

/** Sends the first request of traffic. Feathers, remult and @terreno/api have an object around entities. */
async function ask(port: number, traffic: Partial<Traffic>) {
  const { method = "GET", paths: [path] = [], bodies: [raw] = [] } = traffic;
  const { status, headers, text } = await request(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { "content-type": "application/json", ...traffic.headers },
    ...raw !== undefined && { raw },
  });
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}`);
  const answer = JSON.parse(text);
  const { data, items, total = headers.get("x-total-count"), aggregates } = answer;
  return { found: data ?? items ?? answer, total: aggregates?.$count ?? total };
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
