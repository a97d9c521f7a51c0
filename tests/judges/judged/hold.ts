import { assert, assertEquals } from "@std/assert";
import type { Reply } from "../../harness/request.ts";
import { asQueryMethod, assertSameAnswer } from "../../support/as_query_method.ts";
import { SECRET, type Via } from "./arbitrary_worlds.ts";
import { differences, isDoc } from "./fields.ts";
import { judge } from "./judge.ts";
import type { ServedWorld } from "./serve_world.ts";
import { type Ask, isLean, type Verdict, type World } from "./world.ts";

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

async function send(
  app: ServedWorld,
  ask: Ask & { readonly tag?: string | undefined },
  route: string,
): Promise<Reply & { what: string }> {
  const { operation, tenant, body, match, tag } = ask;
  const method = VERBS[operation];
  const url = urlOf(ask, route);
  const headers = {
    "x-tenant": tenant,
    ...operation === "all" && { prefer: "count=exact" },
    ...match !== undefined && { "if-match": match === "any" ? "*" : `"${match}.x"` },
    ...tag !== undefined && { "if-none-match": tag },
  };
  const sent = method === "POST" || method === "PATCH" ? { body } : {};
  const reply = await app.send(method, url, { headers, ...sent });
  const what = `${method} ${url} ${JSON.stringify(sent.body)} ${
    JSON.stringify(headers)
  }: ${reply.status} ${reply.text}`;
  assert(reply.status !== 500, `${Deno.inspect(app.failures.at(-1))} ${what}`);
  assert(!SECRET.test(reply.text + [...reply.headers].join()), `a leak: ${what}`);
  const asked = operation === "all" && !app.inBatches ? asQueryMethod(url) : undefined;
  if (asked !== undefined) {
    const byQuery = await app.send("QUERY", asked.path, { headers, body: asked.body });
    assertSameAnswer(byQuery, reply, what);
  }
  return { ...reply, what };
}

/** Sends a request, and holds the answer and what is stored against the judge. */
export async function hold(app: ServedWorld, world: World, ask: Ask & Via): Promise<World> {
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
  named.push(...["parts", "links"].filter((name) => isDoc(acting?.[name])));
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

/** A document without some fields. Of a single value in the place of a list of texts, Mongoose makes such a list. */
function without(doc: object, names: readonly string[]): object {
  const entries = Object.entries(doc).filter(([name]) => name !== "__v" && !names.includes(name));
  return JSON.parse(
    JSON.stringify(
      Object.fromEntries(entries),
      (_name, each) => {
        const only = Array.isArray(each) && each.length === 1 && !isDoc(each[0]) ? each[0] : each;
        return typeof only === "number" || typeof only === "boolean" ? String(only) : only;
      },
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
  const [first, second] = ask.hooked ? ["slow", "fast"] : ["fast", "slow"];
  const other = await send(app, ask, second as string);
  for (const each of reply.status === 200 ? [reply, other] : []) {
    holdSame(each.body, verdict.shown(world), each.what);
    const total = each.headers.get("x-total-count");
    assert(
      total === null || total === String(verdict.total),
      `${total} is the total: ${each.what}`,
    );
  }
  const both = `${reply.what}\n${other.what}`;
  assertEquals(other.status, reply.status, both);
  if (isSame(world, ask)) {
    // The bytes are the same, but for the order of keys.
    holdSame(other.body, reply.body, both);
    assertEquals(other.text.length, reply.text.length, both);
  }
  if (ask.operation === "one") {
    await holdTag(app, { world, ask, verdict, reply, route: first as string });
  }
  if (ask.part !== undefined) return;
  if (isLean(world)) {
    const lean = await send(app, ask, "lean");
    assertEquals(lean.status, reply.status, `${lean.what}\n${reply.what}`);
    assertEquals(idsIn(lean.body), idsIn(reply.body), `${lean.what}\n${reply.what}`);
  }
  if (ask.operation === "all" && reply.status === 200) {
    const owned = world.root.scoped ? [{ owner: ask.tenant }] : [];
    const selected = await app.select({ $and: [ask.q ?? {}, ...owned] });
    assertEquals(
      selected.toSorted(),
      verdict.selected.map(({ _id }) => _id).toSorted(),
      reply.what,
    );
  }
}

/** Whether hooks give what they are given. */
function isSame({ root }: World, { part }: Ask): boolean {
  const { copies = "itself" } = (part === undefined ? undefined : root.fields[part]?.of) ?? root;
  return copies === "itself";
}

/** Holds that a tag that a client keeps stands for what it would read now. */
async function holdTag(
  app: ServedWorld,
  { world, ask, verdict, reply, route }: Read & { readonly route: string },
): Promise<void> {
  if (reply.status !== 200) return;
  const key = `${route} ${ask.tenant} ${urlOf(ask, route)}`;
  const tag = reply.headers.get("etag") ?? "";
  assert(/^"(\d+|none)\.[\w-]+"$/.test(tag), `a tag is missing: ${reply.what}`);
  const kept = app.tags.get(key) ?? { tag, body: reply.body };
  const again = await send(app, { ...ask, tag: kept.tag }, route);
  assertEquals(again.status, kept.tag === tag ? 304 : 200, again.what);
  if (again.status === 304) {
    holdSame(kept.body, verdict.shown(world), `an old answer stands: ${again.what}`);
    assertEquals(again.text, "", again.what);
  }
  app.tags.set(key, { tag, body: reply.body });
}
