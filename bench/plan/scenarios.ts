import {
  CREATED,
  HOOKED,
  type HookKind,
  itemsOf,
  LEAN_HOOKED,
  type Size,
  TARGETS,
  UPDATED,
} from "./collections.ts";
import { itemBody, itemId, itemPatch } from "./items.ts";
import { type Page, WITH_TOTAL } from "./pages.ts";
import { PAGED, POPULATED } from "./ranked.ts";

/** What a server may or may not offer. */
export type Feature =
  | "hook"
  | "lean-hook"
  | HookKind
  | "page"
  | "populate"
  | "deep"
  | "wide"
  | "groups"
  | "writes";

/** What the load generator sends. */
export interface Traffic {
  /** The HTTP method; of an update, the server's own one. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "UPDATE";
  /** The paths, taken in turn. */
  readonly paths: readonly string[];
  /** The JSON texts, taken in turn; none on reads. */
  readonly bodies: readonly string[];
  /** Headers besides the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A page, in place of method, paths and bodies: each kind of server has words of its own. */
  readonly page?: Page;
}

/** One thing that is measured. */
export interface Scenario {
  /** Its name on the command line. */
  readonly name: string;
  /** Its name in tables. */
  readonly title: string;
  /** The number of connections, each with one request at a time. */
  readonly connections: number;
  /** What is sent. */
  readonly traffic: Traffic;
  /** What a server must offer to take part. */
  readonly feature?: Feature;
  /** Whether every round gets a new process, so that its peak memory belongs to the scenario. */
  readonly fresh?: boolean;
  /** The most requests of a round, where the database takes long for each. */
  readonly most?: number;
  /** The server that people write by hand for it: figures are held against that one too. */
  readonly byHand?: string;
}

/** How many different bodies there are: prime, so that an entity gets another one at every turn. */
const BODIES = 997;

const ids = Array.from({ length: TARGETS }, (_, index) => itemId(index));
const indexes = Array.from({ length: BODIES }, (_, index) => index);

/** Reads from paths in turn. */
export function read(...paths: string[]): Traffic {
  return { method: "GET", paths, bodies: [] };
}

/** Reads single entities in turn. */
export const READ_ONE: Traffic = read(...ids.map((id) => `/${itemsOf(TARGETS)}/${id}`));

/** Reads a list. */
export function readList(size: Size): Traffic {
  return read(`/${itemsOf(size)}`);
}

/** Creates entities. */
export const CREATE: Traffic = {
  method: "POST",
  paths: [`/${CREATED}`],
  bodies: indexes.map((index) => JSON.stringify(itemBody(index))),
};

/** Updates entities in turn. */
export const UPDATE: Traffic = {
  method: "UPDATE",
  paths: ids.map((id) => `/${UPDATED}/${id}`),
  bodies: indexes.map((index) => JSON.stringify(itemPatch(index))),
};

/** What is measured, in this order. */
export const SCENARIOS: readonly Scenario[] = [
  { name: "one", title: "one", connections: 1, traffic: READ_ONE },
  { name: "one-16", title: "one, 16 connections", connections: 16, traffic: READ_ONE },
  { name: "list-20", title: "list of 20", connections: 4, traffic: readList(20) },
  { name: "list-1000", title: "list of 1000", connections: 4, traffic: readList(1_000) },
  {
    name: "list-100000",
    title: "list of 100,000",
    connections: 1,
    traffic: readList(100_000),
    fresh: true,
  },
  { name: "create", title: "create", connections: 4, traffic: CREATE },
  { name: "update", title: "update", connections: 4, traffic: UPDATE },
  {
    name: "hook",
    title: "list of 1000, hook on documents",
    connections: 4,
    traffic: read(`/${HOOKED}`),
    feature: "hook",
  },
  {
    name: "hook-lean",
    title: "list of 1000, hook on plain objects",
    connections: 4,
    traffic: read(`/${LEAN_HOOKED}`),
    feature: "lean-hook",
  },
  {
    name: "page-20",
    title: "page of 20, sorted, with total",
    connections: 4,
    traffic: { ...read(), page: { route: PAGED, size: 20 }, headers: WITH_TOTAL },
    feature: "page",
  },
  {
    name: "populated-50",
    title: "page of 50, sorted, one field populated",
    connections: 4,
    traffic: { ...read(), page: { route: POPULATED, size: 50, isPopulated: true } },
    feature: "populate",
  },
];
