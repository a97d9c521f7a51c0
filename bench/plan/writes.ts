import { CHANGED, CREATED, TARGETS } from "./collections.ts";
import { itemBody, itemId } from "./items.ts";
import { CREATE, type Scenario } from "./scenarios.ts";
import { LEAN } from "./servers.ts";

/** The servers that take part unless others are named. */
export const WRITE_SERVERS: readonly string[] = ["mongrove", LEAN];

/** How many entities one request creates or changes. */
export const MANY = TARGETS;

/** Names the route that serves the writes of a collection. */
export function written(collection: string): string {
  return `written-${collection}`;
}

/** How many different bodies there are. */
const BODIES = 7;

const turns = Array.from({ length: BODIES }, (_, index) => index);
const path = `/${written(CREATED)}`;
const all = `/${written(CHANGED)}?q=${encodeURIComponent(JSON.stringify({ stars: { $gte: 0 } }))}`;

/** Writes beside the same by hand, on a replica set: what is written together is in one transaction. */
export const WRITE_SCENARIOS: readonly Scenario[] = [
  write("write-create", "create", { ...CREATE, paths: [path] }),
  write("write-create-minimal", "create, without an answer", {
    ...{ ...CREATE, paths: [path], headers: { prefer: "return=minimal" } },
  }),
  write("write-create-1000", `create ${MANY} at once`, {
    ...{ method: "POST", paths: [path], bodies: turns.map(manyBodies) },
  }),
  write("write-update-1000", `change ${MANY} at once`, {
    ...{ method: "PATCH", paths: [all], bodies: turns.map((turn) => `{"price":${turn}.5}`) },
  }),
  write("write-replace", "replace", {
    method: "PUT",
    paths: Array.from({ length: TARGETS }, (_, index) => `/${written(CHANGED)}/${itemId(index)}`),
    bodies: CREATE.bodies,
  }),
];

function write(name: string, title: string, traffic: Scenario["traffic"]): Scenario {
  return { name, title, connections: 4, feature: "writes", byHand: LEAN, traffic };
}

function manyBodies(turn: number): string {
  return JSON.stringify(Array.from({ length: MANY }, (_, index) => itemBody(turn * MANY + index)));
}
