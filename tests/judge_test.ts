import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { openDatabase } from "./harness/database.ts";
import type { Reply } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { SECRET, type Trial, trials, type Via } from "./judged/arbitrary_worlds.ts";
import { differences, isDoc } from "./judged/fields.ts";
import { judge } from "./judged/judge.ts";
import { type ServedWorld, serveWorld } from "./judged/serve_world.ts";
import type { Ask, Verdict, World } from "./judged/world.ts";

const SEED = Number(Deno.env.get("JUDGE_SEED") ?? 20261123);

/** The `path` that a failure prints: with it and the seed, that failure is repeated and made smaller. */
const PATH = Deno.env.get("JUDGE_PATH");

/** How many requests are judged. `JUDGE_REQUESTS=1000000` is the long run. */
const REQUESTS = Number(Deno.env.get("JUDGE_REQUESTS") ?? 4000);

/** How many requests an application gets at most. */
const MOST = 300;

const VERBS = {
  all: "GET",
  one: "GET",
  create: "POST",
  update: "PATCH",
  remove: "DELETE",
  removeAll: "DELETE",
};

function urlOf({ operation, id, part, subId, q, query }: Ask, route: string): string {
  const isMany = operation === "all" || operation === "removeAll" || operation === "create";
  const inner = part === undefined
    ? isMany ? "" : `/${id}`
    : `/${id}/${route}-${part}${isMany || part === "single" ? "" : `/${subId}`}`;
  const search = new URLSearchParams({ ...query, ...q && { q: JSON.stringify(q) } });
  const outer = part === undefined ? route : "fast";
  return `/${outer}${inner}${search.size > 0 ? `?${search}` : ""}`;
}

async function send(app: ServedWorld, ask: Ask, route: string): Promise<Reply & { what: string }> {
  const { operation, tenant, body, match } = ask;
  const method = VERBS[operation];
  const url = urlOf(ask, route);
  const headers = {
    "x-tenant": tenant,
    ...operation === "all" && { prefer: "count=exact" },
    ...match !== undefined && { "if-match": match === "any" ? "*" : `"${match}.x"` },
  };
  const sent = method === "POST" || method === "PATCH" ? { body } : {};
  const reply = await app.send(method, url, { headers, ...sent });
  const what = `${method} ${url} ${JSON.stringify(sent.body)} ${
    JSON.stringify(headers)
  }: ${reply.status} ${reply.text}`;
  assert(!SECRET.test(reply.text + [...reply.headers].join()), `a leak: ${what}`);
  return { ...reply, what };
}

/** Sends a request, and holds the answer and what is stored against the judge. */
async function hold(app: ServedWorld, world: World, ask: Ask & Via): Promise<World> {
  const verdict = judge(world, ask);
  const reply = await send(app, ask, ask.hooked ? "slow" : "fast");
  const isRead = ask.operation === "all" || ask.operation === "one";
  const { what } = reply;
  assert(verdict.statuses.includes(reply.status), `${verdict.statuses} is expected: ${what}`);
  if (isRead) {
    await holdRead(app, { world, ask, verdict, reply });
    return world;
  }
  const now = { ...world, ...await app.stored() };
  if (reply.status >= 400) {
    holdSame(now, world, `nothing changes: ${what}`);
  } else if (verdict.unsure) {
    holdOthers(world, now, { ask, what });
  } else {
    const { roots, targets } = now;
    const { after } = verdict;
    holdSame({ roots, targets }, { roots: after.roots, targets: after.targets }, what);
    holdSame(reply.body, verdict.shown(now), what);
  }
  return now;
}

function holdSame(actual: unknown, expected: unknown, what: string): void {
  const wrong = differences(actual, expected);
  assert(wrong.length === 0, `${wrong.join("\n")}\n${what}`);
}

/** Where the documentation leaves a value open: only what the request names changes. */
function holdOthers(before: World, now: World, { ask, what }: { ask: Ask; what: string }): void {
  const { id, subId, part, operation, body } = ask;
  const named = part === undefined
    ? Object.keys(body as object).filter((name) => before.root.fields[name]?.guard !== "readonly")
    : [part];
  const acting = before.roots.find(({ _id }) => _id === id);
  // Mongoose makes a list of an object that stands in the place of one.
  if (isDoc(acting?.parts)) named.push("parts");
  for (const name of ["roots", "targets"] as const) {
    const known = new Set(before[name].map(({ _id }) => _id));
    for (const each of before[name]) {
      const later = now[name].find(({ _id }) => _id === each._id);
      const isActing = each._id === id ||
        (part === "links" && (each._id === subId || operation === "removeAll"));
      if (!isActing) holdSame(later, each, `another entity changes: ${what}`);
      else if (later && name === "roots") {
        holdSame(without(later, named), without(each, named), `another field changes: ${what}`);
      }
    }
    const added = now[name].filter(({ _id }) => !known.has(_id as string));
    assert(added.length <= (operation === "create" ? 1 : 0), `more is added: ${what}`);
  }
}

/** A document without some fields. Mongoose makes a list of a single value that is stored in the place of one. */
function without(doc: object, names: readonly string[]): object {
  const entries = Object.entries(doc).filter(([name]) => name !== "__v" && !names.includes(name));
  return JSON.parse(
    JSON.stringify(
      Object.fromEntries(entries),
      (_name, each) => Array.isArray(each) && each.length === 1 && !isDoc(each[0]) ? each[0] : each,
    ),
  );
}

function idsIn(body: unknown): unknown[] {
  return [body].flat().map((each) => (each as { _id?: unknown })._id);
}

interface Read {
  readonly world: World;
  readonly ask: Ask & Via;
  readonly verdict: Verdict;
  readonly reply: Reply & { what: string };
}

/** Holds what a read shows, and what it shows with hooks and without against each other. */
async function holdRead(app: ServedWorld, { world, ask, verdict, reply }: Read): Promise<void> {
  if (reply.status === 200) {
    holdSame(reply.body, verdict.shown(world), reply.what);
    const total = reply.headers.get("x-total-count");
    assert(
      total === null || total === String(verdict.total),
      `${total} is the total: ${reply.what}`,
    );
  }
  const other = await send(app, ask, ask.hooked ? "fast" : "slow");
  holdSame(
    [other.status, other.body],
    [reply.status, reply.body],
    `${reply.what}\n${other.what}`,
  );
  if (ask.part === undefined) {
    const lean = await send(app, ask, "lean");
    assertEquals(lean.status, reply.status, `${lean.what}\n${reply.what}`);
    assertEquals(idsIn(lean.body), idsIn(reply.body), `${lean.what}\n${reply.what}`);
  }
}

test("whatever a client sends, answers show and writes change what an independent judge allows", async () => {
  await using _database = await openDatabase();
  const property = fc.asyncProperty(trials(MOST), async ({ world, asks }: Trial) => {
    await using app = await serveWorld(world);
    let now: World = world;
    for (const ask of asks) now = await hold(app, now, ask);
  });
  const again = PATH === undefined ? { endOnFailure: true } : { path: PATH };
  const numRuns = Math.ceil(2 * REQUESTS / MOST);
  await fc.assert(property, { seed: SEED, numRuns, ...again });
});
