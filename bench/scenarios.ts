/** The requests that are measured, and how long and how often. @module */
import * as data from "./data.ts";
import { CREATED, DEEP, DEEP_SORT, itemId, itemsOf, TARGETS, UPDATED } from "./data.ts";
import { DRIVER, HYDRATED, LEAN, OURS, type Page } from "./servers.ts";

/** Requests with paths and bodies in turn. */
export interface Traffic {
  /** The HTTP method; UPDATE is the server's method of updates. */
  readonly method: string;
  readonly paths: readonly string[];
  readonly bodies: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of connections, each with one request at a time. */
  readonly connections: number;
  /** A page. Each kind of server has its own request for it. */
  readonly page?: Page;
}

/** A row or a column of the tables. */
export interface Scenario extends Traffic {
  readonly name: string;
  readonly title: string;
  /** The capability that a server needs. */
  readonly feature?: string;
  /** Whether every round starts a new process, so that its peak memory is that of the scenario. */
  readonly fresh?: boolean;
  /** The most requests of a round. */
  readonly most?: number;
  /** The server by hand that Mongrove is compared with, besides the baseline. */
  readonly byHand?: string;
  /** The scenario with the same requests to a class without options. */
  readonly without?: string;
}

/** How long and how often servers are measured. Times are CPU time of the server, so that a busy machine changes little. */
const FULL = {
  rounds: 5,
  /** The time of a scenario in a round. */
  cellMs: 800,
  /** The warm-up before the first round, and before each later one. */
  firstMs: 3_000,
  laterMs: 300,
  /** The most documents of a collection. */
  largest: 100_000,
};
/** V8 compiles the functions of a request for the last time after ten thousands of requests. */
const LONG: Effort = { ...FULL, rounds: 7, cellMs: 2_000, firstMs: 15_000 };

/** The effort of `--quick`, whose figures mean nothing. */
export const QUICK: Effort = { rounds: 1, cellMs: 50, firstMs: 20, laterMs: 0, largest: 10_000 };

export type Effort = typeof FULL;

/** Returns JSON texts. Their usual number is prime, so that an entity gets another body at every turn. */
function bodies(make: (index: number) => object, length: number = 997): string[] {
  return Array.from({ length }, (_, index) => JSON.stringify(make(index)));
}

function send(method: string, paths: readonly string[], bodies: readonly string[]): Traffic {
  return { method, paths, bodies, connections: 4 };
}

const read = (...paths: string[]) => send("GET", paths, []);
const readPage = (page: Page): Traffic => ({ ...read(), page });
export const readList = (size: number): Traffic => read(`/${itemsOf(size)}`);

function pathsOf(route: string): string[] {
  return Array.from({ length: TARGETS }, (_, index) => `/${route}/${itemId(index)}`);
}

function scenario(
  name: string,
  title: string,
  traffic: Traffic,
  more: Partial<Scenario> = {},
): Scenario {
  return { ...traffic, name, title, ...more };
}

export const READ_ONE: Traffic = read(...pathsOf(itemsOf(TARGETS)));
const CREATE = send("POST", [`/${CREATED}`], bodies(data.itemBody));
const UPDATE = send("UPDATE", pathsOf(UPDATED), bodies(data.itemPatch));
const HOOKED = read(`/${data.HOOKED}`);
const LEAN_HOOKED = read(`/${data.LEAN_HOOKED}`);
const PAGE = readPage({ route: data.PAGED, size: 20 });

/** A page with its total, and a page with each entity's writer. */
export const PAGE_20: Traffic = { ...PAGE, headers: { prefer: "count=exact" } };
export const POPULATED_50 = readPage({ route: data.POPULATED, size: 50, isPopulated: true });

/** The scenarios of all servers. */
export const SCENARIOS: readonly Scenario[] = [
  scenario("one", "one", READ_ONE, { connections: 1 }),
  scenario("one-16", "one, 16 connections", READ_ONE, { connections: 16 }),
  scenario("list-20", "list of 20", readList(20)),
  scenario("list-1000", "list of 1000", readList(1_000)),
  scenario("list-100000", "list of 100,000", readList(1e5), { connections: 1, fresh: true }),
  scenario("create", "create", CREATE),
  scenario("update", "update", UPDATE),
  scenario("hook", "list of 1000, hook on documents", HOOKED, { feature: "hook" }),
  scenario("hook-lean", "list of 1000, hook on plain objects", LEAN_HOOKED, {
    feature: "lean-hook",
  }),
  scenario("page-20", "page of 20, sorted, with total", PAGE_20, { feature: "page" }),
  scenario("populated-50", "page of 50, sorted, one field populated", POPULATED_50, {
    feature: "populate",
  }),
];

/** Returns the scenarios of traffic on the routes with a hook. */
function guard(
  [kind, words, byHand]: readonly [kind: data.HookKind, words: string, byHand: string],
  requests: Readonly<Record<string, Traffic>>,
): Scenario[] {
  return Object.entries(requests).map(([name, traffic]) => {
    const { paths, page } = traffic;
    return scenario(`${kind}-${name}`, `${name}, hook ${words}`, traffic, {
      paths: paths.map((path) => `/${data.guarded(kind, path.slice(1))}`),
      ...page && { page: { ...page, route: data.guarded(kind, page.route) } },
      feature: kind,
      byHand,
    });
  });
}

const LISTS = { "list-20": readList(20), "list-1000": readList(1_000) };
const READS = { ...LISTS, one: READ_ONE, "page-20": PAGE };
const WITHOUT_HOOK = ["list-20", "list-1000", "one", "update", "create"];

/** Requests with one hook that looks at a field of the entity, and the same without a hook. */
const HOOKS: readonly Scenario[] = [
  ...guard(["documents", "on documents", HYDRATED], { ...READS, update: UPDATE, create: CREATE }),
  ...guard(["lean", "on plain objects", LEAN], READS),
  ...guard(["named", "with names", LEAN], READS),
  ...SCENARIOS.filter(({ name }) => WITHOUT_HOOK.includes(name))
    .map((each) => ({ ...each, title: `${each.title}, no hook`, byHand: LEAN })),
];

const created = `/${data.written(CREATED)}`;
const changed = data.written(data.CHANGED);
const stars = encodeURIComponent(JSON.stringify({ stars: { $gte: 0 } }));
const create = send("POST", [created], CREATE.bodies);
const many = bodies((turn) => {
  return Array.from({ length: data.MANY }, (_, index) => data.itemBody(turn * data.MANY + index));
}, 7);
const prices = bodies((turn) => ({ price: turn + 0.5 }), 7);

/** Writes on a replica set. Writes of many entities are one transaction. */
const WRITES: readonly Scenario[] = [
  scenario("create", "create", create),
  scenario("create-minimal", "create, without an answer", create, {
    headers: { prefer: "return=minimal" },
  }),
  scenario("create-1000", "create 1000 at once", send("POST", [created], many)),
  scenario("update-1000", "change 1000 at once", send("PATCH", [`/${changed}?q=${stars}`], prices)),
  scenario("replace", "replace", send("PUT", pathsOf(changed), CREATE.bodies)),
].map((each) => ({ ...each, name: `write-${each.name}`, feature: "writes", byHand: LEAN }));

/** Groups compared with the aggregation pipeline by hand. The large collection takes long for each request. */
const GROUPS: readonly Scenario[] = data.GROUPED_SIZES.flatMap((size) => {
  const route = `/${data.grouped(itemsOf(size))}`;
  const q = encodeURIComponent(JSON.stringify({ published: true }));
  const byMonth = read(`${route}?group=stars,created&sum=price&q=${q}`);
  const title = `groups of ${size.toLocaleString("en-US")}`;
  const more = { feature: "groups", byHand: DRIVER, ...size > TARGETS && { most: 60 } };
  return [
    scenario(`groups-${size}`, title, read(`${route}?group=stars&sum=price`), more),
    scenario(`groups-q-${size}`, `${title}, by a month too, with q`, byMonth, more),
  ];
});

/** Requests to classes with an option, beside the same by hand and beside a class without options. */
const OPTIONS: readonly Scenario[] = data.CLASS_OPTIONS.flatMap((option) => {
  const route = data.owned(option);
  const requests: Readonly<Record<string, Traffic>> = {
    one: read(...pathsOf(route)),
    "list of 20": read(`/${route}`),
    create: send("POST", [`/${route}`], CREATE.bodies),
    update: send("UPDATE", pathsOf(route), UPDATE.bodies),
  };
  const isWritten = option === "stamps" || option === "history";
  return Object.entries(requests)
    .filter(([, { method }]) => method !== "GET" || !isWritten)
    .map(([title, traffic]) =>
      scenario(`${option} ${title}`, `${title}, ${option}`, traffic, {
        feature: "options",
        byHand: LEAN,
        ...option !== "none" && { without: `none ${title}` },
      })
    );
});

const keyedRoute = data.keyed(itemsOf(TARGETS));

/** Requests with a key, beside `passport` with a hashed token by hand, and the same without. */
const KEYS: readonly Scenario[] = [
  scenario("key-none", "one, no key", READ_ONE, { byHand: LEAN }),
  scenario("key", "one, with a key", read(...pathsOf(keyedRoute)), {
    headers: { authorization: `Bearer ${data.KEY}` },
    feature: "keys",
    byHand: LEAN,
    without: "key-none",
  }),
];

/** The suites, with the servers that are measured unless the command line names others. None stand for all servers. */
export const SUITES = {
  scenarios: { scenarios: SCENARIOS, servers: [], effort: FULL },
  groups: { scenarios: GROUPS, servers: [OURS, DRIVER], effort: LONG },
  hooks: { scenarios: HOOKS, servers: [OURS, HYDRATED, LEAN], effort: LONG },
  options: { scenarios: OPTIONS, servers: [OURS, LEAN], effort: LONG, isReplicaSet: true },
  keys: { scenarios: KEYS, servers: [OURS, LEAN], effort: LONG },
  writes: { scenarios: WRITES, servers: [OURS, LEAN], effort: LONG, isReplicaSet: true },
  files: { scenarios: [], servers: [OURS, DRIVER], effort: FULL },
  growth: { scenarios: [], servers: [OURS, HYDRATED], effort: { ...FULL, largest: 1_000_000 } },
};

export type SuiteName = keyof typeof SUITES;

const DEEP_SIZE = 20;

/** The ways to a page at a depth, each with the parameters that it takes in turn. */
const WAYS = {
  /** Walks 20 pages, each behind a page that the server has shown. The walk repeats. */
  next(depth: number, documents: number): string[] {
    const first = Math.min(depth, documents - 20 * DEEP_SIZE) - DEEP_SIZE - 1;
    return Array.from({ length: 21 }, (_, step) => `&after=${itemId(first + step * DEEP_SIZE)}`);
  },
  /** Reads behind an entity with which no page of the walk ends. */
  after: (depth: number): string[] => [`&after=${itemId(depth - 1 - DEEP_SIZE / 2)}`],
  skip: (depth: number): string[] => [`&skip=${depth}`],
};

/** Returns the scenarios of the same page of a large collection, at growing depth and up to the last page. */
function pagesByDepth(documents: number): Scenario[] {
  const last = documents - DEEP_SIZE;
  const depths = [...[0, 100, 1_000, 10_000, 100_000].filter((depth) => depth < last), last];
  return Object.entries(WAYS).flatMap(([way, placesOf]) =>
    depths.map((depth) => {
      const paths = (depth === 0 ? [""] : placesOf(depth, documents))
        .map((place) => `/${DEEP}?limit=${DEEP_SIZE}&sort=${DEEP_SORT}${place}`);
      return scenario(`${way} ${depth}`, `page ${way} ${depth}`, read(...paths), {
        connections: 1,
        feature: "deep",
        // Skipping two million documents in a round is enough
        ...way === "skip" && depth >= 1_000 && { most: Math.ceil(2_000_000 / depth) },
      });
    })
  );
}

export const GROWTH_PARTS = ["documents", "fields", "connections", "depth", "models"] as const;
export type GrowthPart = Exclude<typeof GROWTH_PARTS[number], "models">;

/** Returns the scenarios of the parts. Their names are the numbers that grow. */
export function growthOf(documents: number): Readonly<Record<GrowthPart, readonly Scenario[]>> {
  const step = (count: number, unit: string, traffic: Traffic, more: Partial<Scenario>) =>
    scenario(`${count}`, `${count} ${unit}`, traffic, more);
  return {
    documents: data.SIZES.map((size) => {
      return step(size, "documents", readList(size), { connections: 2 });
    }),
    fields: data.FIELD_COUNTS.map((count) => {
      return step(count, "fields", read(`/${data.wideOf(count)}`), { feature: "wide" });
    }),
    connections: [1, 4, 16, 64, 256].map((connections) => {
      return step(connections, "connections", READ_ONE, { connections });
    }),
    depth: pagesByDepth(documents),
  };
}
