/** The requests that are measured, and how long and how often. @module */
import * as data from "./data.ts";
import { CREATED, DEEP, DEEP_SORT, itemId, itemsOf, TARGETS, UPDATED } from "./data.ts";
import { DRIVER, HYDRATED, LEAN, OURS, type Page } from "./servers.ts";

/** The requests of the load generator. Paths and bodies are taken in turn. */
export interface Traffic {
  /** The HTTP method; UPDATE is the server's method of updates. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "UPDATE";
  readonly paths: readonly string[];
  readonly bodies: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** A page. Each kind of server has its own request for it. */
  readonly page?: Page;
}

/** A row or a column of the tables. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** The number of connections, each with one request at a time. */
  readonly connections: number;
  readonly traffic: Traffic;
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
export interface Effort {
  readonly rounds: number;
  /** The time of a scenario in a round. */
  readonly cellMs: number;
  /** The warm-up before the first round, and before each later one. */
  readonly firstMs: number;
  readonly laterMs: number;
  /** The most documents of a collection. */
  readonly largest: number;
}

export const FULL: Effort = { rounds: 5, cellMs: 800, firstMs: 3_000, laterMs: 300, largest: 1e5 };

/** The effort of suites, of `--growth`, and of `--quick`, whose figures mean nothing. */
export const LONG: Effort = { ...FULL, rounds: 7, cellMs: 2_000 };
export const LARGE: Effort = { ...FULL, largest: 1e6 };
export const QUICK: Effort = { rounds: 1, cellMs: 50, firstMs: 20, laterMs: 0, largest: 1e4 };

function scenario(
  name: string,
  title: string,
  connections: number,
  traffic: Traffic,
  more: Partial<Scenario> = {},
): Scenario {
  return { name, title, connections, traffic, ...more };
}

/** Returns JSON texts. Their usual number is prime, so that an entity gets another body at every turn. */
function bodies(make: (index: number) => object, length: number = 997): string[] {
  return Array.from({ length }, (_, index) => JSON.stringify(make(index)));
}

function send(method: Traffic["method"], paths: string[], bodies: readonly string[]): Traffic {
  return { method, paths, bodies };
}

function read(...paths: string[]): Traffic {
  return send("GET", paths, []);
}

export function readList(size: number): Traffic {
  return read(`/${itemsOf(size)}`);
}

function readPage(page: Page): Traffic {
  return { ...read(), page };
}

const ids = Array.from({ length: TARGETS }, (_, index) => itemId(index));

export const READ_ONE: Traffic = read(...ids.map((id) => `/${itemsOf(TARGETS)}/${id}`));

const CREATE = send("POST", [`/${CREATED}`], bodies(data.itemBody));
const UPDATE = send("UPDATE", ids.map((id) => `/${UPDATED}/${id}`), bodies(data.itemPatch));

export const PAGE_20: Page = { route: data.PAGED, size: 20 };
export const POPULATED_50: Page = { route: data.POPULATED, size: 50, isPopulated: true };

/** The header of requests for a page with its total. */
export const WITH_TOTAL: Readonly<Record<string, string>> = { prefer: "count=exact" };

const PAGE_WITH_TOTAL: Traffic = { ...readPage(PAGE_20), headers: WITH_TOTAL };

/** The scenarios of all servers. */
export const SCENARIOS: readonly Scenario[] = [
  scenario("one", "one", 1, READ_ONE),
  scenario("one-16", "one, 16 connections", 16, READ_ONE),
  scenario("list-20", "list of 20", 4, readList(20)),
  scenario("list-1000", "list of 1000", 4, readList(1_000)),
  scenario("list-100000", "list of 100,000", 1, readList(100_000), { fresh: true }),
  scenario("create", "create", 4, CREATE),
  scenario("update", "update", 4, UPDATE),
  scenario("hook", "list of 1000, hook on documents", 4, read(`/${data.HOOKED}`), {
    feature: "hook",
  }),
  scenario("hook-lean", "list of 1000, hook on plain objects", 4, read(`/${data.LEAN_HOOKED}`), {
    feature: "lean-hook",
  }),
  scenario("page-20", "page of 20, sorted, with total", 4, PAGE_WITH_TOTAL, { feature: "page" }),
  scenario("populated-50", "page of 50, sorted, one field populated", 4, readPage(POPULATED_50), {
    feature: "populate",
  }),
];

/** Returns the scenarios of reads whose routes have a hook. */
function guardedReads(kind: data.HookKind): Scenario[] {
  return [
    guard(kind, "list-20", readList(20)),
    guard(kind, "list-1000", readList(1_000)),
    guard(kind, "one", READ_ONE),
    guard(kind, "page-20", readPage(PAGE_20)),
  ];
}

const HOOK_TITLES: Readonly<Record<data.HookKind, string>> = {
  documents: "hook on documents",
  lean: "hook on plain objects",
  named: "hook with names",
};

/** Returns the scenario of the same traffic on the routes with a hook. */
function guard(kind: data.HookKind, name: string, traffic: Traffic): Scenario {
  const { paths, page } = traffic;
  const title = `${name}, ${HOOK_TITLES[kind]}`;
  return scenario(`${kind}-${name}`, title, 4, {
    ...traffic,
    paths: paths.map((path) => `/${data.guarded(kind, path.slice(1))}`),
    ...page && { page: { ...page, route: data.guarded(kind, page.route) } },
  }, { feature: kind, byHand: kind === "documents" ? HYDRATED : LEAN });
}

const WITHOUT_HOOK = ["list-20", "list-1000", "one", "update", "create"];

/** Requests with one hook that looks at a field of the entity, and the same without a hook. */
const HOOKS: readonly Scenario[] = [
  ...guardedReads("documents"),
  guard("documents", "update", UPDATE),
  guard("documents", "create", CREATE),
  ...guardedReads("lean"),
  ...guardedReads("named"),
  ...SCENARIOS.filter(({ name }) => WITHOUT_HOOK.includes(name))
    .map((each): Scenario => ({ ...each, title: `${each.title}, no hook`, byHand: LEAN })),
];

const created = `/${data.written(CREATED)}`;
const changed = `/${data.written(data.CHANGED)}`;
const anyStars = encodeURIComponent(JSON.stringify({ stars: { $gte: 0 } }));
const create = send("POST", [created], CREATE.bodies);
const minimal = { ...create, headers: { prefer: "return=minimal" } };
const many = bodies((turn) => {
  return Array.from({ length: data.MANY }, (_, index) => data.itemBody(turn * data.MANY + index));
}, 7);
const prices = bodies((turn) => ({ price: turn + 0.5 }), 7);

/** Writes on a replica set. Writes of many entities are one transaction. */
const WRITES: readonly Scenario[] = [
  write("write-create", "create", create),
  write("write-create-minimal", "create, without an answer", minimal),
  write("write-create-1000", `create ${data.MANY} at once`, send("POST", [created], many)),
  write(
    "write-update-1000",
    `change ${data.MANY} at once`,
    send("PATCH", [`${changed}?q=${anyStars}`], prices),
  ),
  write(
    "write-replace",
    "replace",
    send("PUT", ids.map((id) => `${changed}/${id}`), CREATE.bodies),
  ),
];

function write(name: string, title: string, traffic: Traffic): Scenario {
  return scenario(name, title, 4, traffic, { feature: "writes", byHand: LEAN });
}

/** Groups compared with the aggregation pipeline by hand. The large collection takes long for each request. */
const GROUPS: readonly Scenario[] = data.GROUPED_SIZES.flatMap((size) => {
  const route = `/${data.grouped(itemsOf(size))}`;
  const q = encodeURIComponent(JSON.stringify({ published: true }));
  const byMonth = read(`${route}?group=stars,created&sum=price&q=${q}`);
  const title = `groups of ${size.toLocaleString("en-US")}`;
  const more = { feature: "groups", byHand: DRIVER, ...size > TARGETS && { most: 60 } };
  return [
    scenario(`groups-${size}`, title, 4, read(`${route}?group=stars&sum=price`), more),
    scenario(`groups-q-${size}`, `${title}, by a month too, with q`, 4, byMonth, more),
  ];
});

/** Requests to classes with an option, beside the same by hand and beside a class without options. */
const OPTIONS: readonly Scenario[] = data.CLASS_OPTIONS.flatMap((option) => {
  const route = `/${data.owned(option)}`;
  const requests: Readonly<Record<string, Traffic>> = {
    one: read(...ids.map((id) => `${route}/${id}`)),
    "list of 20": read(route),
    create: send("POST", [route], CREATE.bodies),
    update: send("UPDATE", ids.map((id) => `${route}/${id}`), UPDATE.bodies),
  };
  const isWritten = option === "stamps" || option === "history";
  return Object.entries(requests)
    .filter(([, { method }]) => method !== "GET" || !isWritten)
    .map(([title, traffic]) =>
      scenario(`${option} ${title}`, `${title}, ${option}`, 4, traffic, {
        feature: "options",
        byHand: LEAN,
        ...option !== "none" && { without: `none ${title}` },
      })
    );
});

/** Scenarios that compare Mongrove with servers by hand, each suite in one table. */
export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  groups: { scenarios: GROUPS, servers: [OURS, DRIVER] },
  hooks: { scenarios: HOOKS, servers: [OURS, HYDRATED, LEAN] },
  options: { scenarios: OPTIONS, servers: [OURS, LEAN], transactions: true },
  writes: { scenarios: WRITES, servers: [OURS, LEAN], transactions: true },
};

export type SuiteName = "groups" | "hooks" | "options" | "writes";

interface Suite {
  readonly scenarios: readonly Scenario[];
  readonly servers: readonly string[];
  /** Whether the database is a replica set. */
  readonly transactions?: boolean;
}

/** The ways to a page: behind a page that the server has shown, behind any entity, or behind a number of entities. */
export const WAYS = ["next", "after", "skip"] as const;

const DEEP_SIZE = 20;

/** Returns the scenarios of the same page of a large collection, at growing depth and up to the last page. */
function pagesByDepth(documents: number): Scenario[] {
  const last = documents - DEEP_SIZE;
  const depths = [...[0, 100, 1_000, 10_000, 100_000].filter((depth) => depth < last), last];
  return WAYS.flatMap((way) =>
    depths.map((depth) => {
      const paths = placesOf(way, depth, documents)
        .map((place) => `/${DEEP}?limit=${DEEP_SIZE}&sort=${DEEP_SORT}${place}`);
      return scenario(`${way} ${depth}`, `page ${way} ${depth}`, 1, read(...paths), {
        feature: "deep",
        // Skipping two million documents in a round is enough
        ...way === "skip" && depth >= 1_000 && { most: Math.ceil(2_000_000 / depth) },
      });
    })
  );
}

/** Returns the starts of the pages of a scenario. `next` walks 20 pages from the page before, and repeats the walk. */
function placesOf(way: typeof WAYS[number], depth: number, documents: number): string[] {
  if (depth === 0) return [""];
  if (way === "skip") return [`&skip=${depth}`];
  // No page of the walk ends with this entity
  if (way === "after") return [`&after=${itemId(depth - 1 - DEEP_SIZE / 2)}`];
  const first = Math.min(depth, documents - 20 * DEEP_SIZE) - DEEP_SIZE;
  return Array.from({ length: 21 }, (_, step) => `&after=${itemId(first + step * DEEP_SIZE - 1)}`);
}

/** The numbers of models of `--growth`. */
export const MODEL_COUNTS: readonly number[] = [1, 10, 50, 100, 200];

/** The parts of `--growth`, without `models`. The names of their scenarios are the numbers that grow. */
export const GROWTH = {
  documents: () =>
    data.SIZES.map((size) => scenario(`${size}`, `list of ${size}`, 2, readList(size))),
  fields: () =>
    data.FIELD_COUNTS.map((count) => {
      const title = `list of ${data.WIDE_COUNT}, ${count} fields`;
      return scenario(`${count}`, title, 4, read(`/${data.wideOf(count)}`), { feature: "wide" });
    }),
  connections: () =>
    [1, 4, 16, 64, 256].map((connections) =>
      scenario(`${connections}`, `one, ${connections} connections`, connections, READ_ONE)
    ),
  depth: pagesByDepth,
} satisfies Record<string, (documents: number) => Scenario[]>;

export const GROWTH_PARTS: readonly string[] = [...Object.keys(GROWTH), "models"];
