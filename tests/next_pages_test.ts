import { assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { Indexed, type IndexedApp, openIndexed, sorted } from "./fixtures/indexed.ts";
import { test } from "./harness/testing.ts";
import { linksOf } from "./links.ts";
import { asQuery, type EntityBody } from "./support.ts";
import { until } from "./until.ts";

const RUNS = { seed: Number(Deno.env.get("LISTS_SEED") ?? 20261122), numRuns: 60 };

const RANKED = { rank: 1, _id: 1 } as const;

/** Few entities with many ties. */
const FEW = Array.from({ length: 30 }, (_, n) => ({
  rank: [n % 4, null][Number(n % 7 === 0)],
  name: `n${n}`,
  tenant: n % 2 === 0 ? "a" : "b",
}));

/** How many statements each page of a walk takes that reads entities. */
async function statements(app: IndexedApp, path: string): Promise<number[]> {
  const counts: number[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    app.sent.length = 0;
    const reply: Awaited<ReturnType<typeof app.get>> = await app.get(next);
    assertEquals(reply.status, 200, reply.text);
    counts.push(app.sent.filter(({ name }) => name === "find").length);
    next = linksOf(reply).next;
  }
  return counts;
}

const ONE_EACH = [1, 1, 1, 1, 1, 1];

test("a page that follows another one by an index is read by one statement", async () => {
  await using app = await openIndexed(Indexed, FEW);
  await indexed(app);
  assertEquals(await statements(app, "/plain?sort=-name&limit=5"), ONE_EACH);
  assertEquals(await statements(app, "/plain?sort=rank,_id&limit=5"), ONE_EACH);
  const filtered = `/plain${asQuery({ tenant: "a" })}&sort=rank&limit=5`;
  assertEquals(await statements(app, filtered), [1, 1, 1]);
  assertEquals((await app.get("/plain?sort=rank&limit=50")).body, await whole(app));
});

/** Waits until the indexes have been built and looked at: from then on, pages are read from them. */
async function indexed(app: IndexedApp): Promise<void> {
  await until(async () =>
    (await statements(app, "/plain?sort=rank&limit=5")).join() === ONE_EACH.join()
  );
}

async function whole(app: IndexedApp): Promise<EntityBody[]> {
  const walked: EntityBody[] = [];
  for (let next: string | undefined = "/plain?sort=rank&limit=5"; next !== undefined;) {
    const reply: Awaited<ReturnType<typeof app.get>> = await app.get(next);
    walked.push(...reply.body as EntityBody[]);
    next = linksOf(reply).next;
  }
  return walked;
}

test("a page takes two statements where one does not tell where it begins", async () => {
  await using app = await openIndexed(Indexed, FEW);
  await indexed(app);
  const two = [1, 2, 2, 2, 2, 2];
  // No index in that order, or one that is read backwards, which begins behind its bound
  assertEquals(await statements(app, "/plain?sort=name,rank&limit=5"), two);
  assertEquals(await statements(app, "/plain?sort=-rank,-_id&limit=5"), two);
  // Hooks decide on what is shown of the entity
  assertEquals(await statements(app, "/hooked?sort=rank&limit=5"), [1, 3, 3, 3, 3, 3]);
});

test("a page takes three statements where its entity has left the list, and stands where it stood", async () => {
  await using app = await openIndexed(Indexed, FEW);
  await indexed(app);
  const first = await app.get<EntityBody[]>(`/plain${asQuery({ tenant: "a" })}&sort=rank&limit=5`);
  const list = await sorted(app, RANKED, { tenant: "a" });
  const _id = new mongoose.Types.ObjectId(list[4]);
  await app.collection.updateOne({ _id }, { $set: { tenant: "c" } });
  app.sent.length = 0;
  const { body } = await app.get<EntityBody[]>(linksOf(first).next);
  assertEquals(app.sent.filter(({ name }) => name === "find").length, 3);
  assertEquals(body.map(({ _id }) => _id), list.slice(5, 10));
});

test("no link leads behind an entity that has no identifier to continue after", async () => {
  await using app = await openIndexed(Indexed, FEW);
  await indexed(app);
  const odd = ["by another", "by another too"];
  await app.collection.insertMany(odd.map((_id) => ({ _id, name: _id, rank: 7 })) as never);
  const last = (await sorted(app, RANKED)).at(-3);
  const reply = await app.get<EntityBody[]>(`/plain?sort=rank&limit=1&after=${last}`);
  assertEquals([reply.body[0]?.name, linksOf(reply)], ["by another", {}]);
});

test("a page that follows another one is that of its own reader", async () => {
  await using app = await openIndexed(Indexed, FEW);
  await indexed(app);
  const { headers, body } = await app.get<EntityBody[]>("/plain?sort=rank&limit=5");
  const next = linksOf({ headers } as never).next ?? "";
  for (const tenant of ["a", "b"]) {
    const reply = await app.get<EntityBody[]>(next, { headers: { "x-tenant": tenant } });
    const last = body.at(-1) as EntityBody & { tenant: string };
    const expected = await sorted(app, RANKED, { tenant });
    const at = expected.indexOf(last._id);
    const status = last.tenant === tenant ? 200 : 400;
    assertEquals([tenant, reply.status], [tenant, status]);
    if (status === 400) continue;
    assertEquals(reply.body.map(({ _id }) => _id), expected.slice(at + 1, at + 6));
  }
});

/** What happens to the entity that the next page is behind, which had the rank 2. */
const TURNS: Record<string, (app: IndexedApp, _id: object) => Promise<unknown>> = {
  ...Object.fromEntries(
    [[-1, 7], [7, -1], [null, 3], [2, 7], [], [[0], 7]].map((rank) => [
      `its value becomes ${JSON.stringify(rank)}`,
      ({ collection }, _id) => collection.updateOne({ _id }, { $set: { rank } as never }),
    ]),
  ),
  "it moves, and its index is gone": async ({ collection }, _id) => {
    await collection.updateOne({ _id }, { $set: { rank: 0.5 } as never });
    await collection.dropIndex("rank_1__id_1");
  },
};

test("a page is behind its entity where an index does not tell that it stands elsewhere", async (t) => {
  for (const [name, change] of Object.entries(TURNS)) {
    await t.step(name, async () => {
      await using app = await openIndexed(Indexed, FEW);
      await indexed(app);
      await app.get("/plain?sort=rank&limit=20");
      const last = (await sorted(app, RANKED))[19] ?? "";
      await change(app, new mongoose.Types.ObjectId(last));
      const { body } = await app.get<EntityBody[]>(`/plain?sort=rank&limit=5&after=${last}`);
      const list = await sorted(app, RANKED);
      const place = list.indexOf(last) + 1;
      assertEquals(body.map(({ _id }) => _id), list.slice(place, place + 5));
    });
  }
});

const value = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom<unknown>(null, undefined, 1.5, -0, NaN, "b", [], [2, 0], true),
  fc.constantFrom<unknown>(
    new mongoose.mongo.Long("9007199254740993"),
    mongoose.Types.Decimal128.fromString("1.50"),
    new Date(5),
  ),
);

/** What others do between two pages: to the entity that the page is behind, or to any. */
const change = fc.record({
  kind: fc.constantFrom("none", "none", "move", "remove", "insert", "leave"),
  isLast: fc.boolean(),
  pick: fc.nat(),
  rank: value,
});

type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

async function apply(
  { collection }: IndexedApp,
  { kind, isLast, pick, rank }: Change,
  last: string,
) {
  const all = await collection.find({}, { projection: { _id: 1 } }).toArray();
  const any = all[pick % all.length]?._id;
  const _id = (isLast ? new mongoose.Types.ObjectId(last) : any) as never;
  const options = { ignoreUndefined: true };
  const set = rank === undefined ? { $unset: { rank: 1 } } : { $set: { rank } };
  if (kind === "move") await collection.updateOne({ _id }, set as never);
  if (kind === "leave") await collection.updateOne({ _id }, { $set: { tenant: "c" } as never });
  if (kind === "remove") await collection.deleteOne({ _id });
  if (kind === "insert") {
    const name = crypto.randomUUID();
    await collection.insertOne({ rank, name, tenant: "a" } as never, options);
  }
}

interface Walk {
  readonly sort: keyof typeof ORDERS;
  readonly limit: number;
  readonly tenant: string | undefined;
  readonly changes: readonly Change[];
}

const ORDERS = { rank: RANKED, "-name": { name: -1, _id: 1 } } as const;

/** Walks from page to page while others change the list; each page has to be what the list has behind its entity then. */
async function walk(app: IndexedApp, { sort, limit, tenant, changes }: Walk): Promise<void> {
  const filter = tenant === undefined ? {} : { tenant };
  const headers = tenant === undefined ? {} : { "x-tenant": tenant };
  let path = `/plain?sort=${sort}&limit=${limit}`;
  let last: string | undefined;
  for (const each of changes) {
    if (last !== undefined) await apply(app, each, last);
    const list = await sorted(app, ORDERS[sort], filter);
    const { status, body, headers: sent } = await app.get<EntityBody[]>(path, { headers });
    const place = last === undefined ? 0 : list.indexOf(last) + 1;
    const isThere = last === undefined || place > 0;
    assertEquals(status, isThere ? 200 : 400, JSON.stringify(body));
    if (!isThere) return;
    assertEquals(body.map(({ _id }) => _id), list.slice(place, place + limit));
    const { next } = linksOf({ headers: sent } as never);
    assertEquals(next !== undefined, list.length > place + limit);
    if (next === undefined) return;
    [path, last] = [next, body.at(-1)?._id];
  }
}

test("whatever others change between two pages, the next one is behind the last entity", async () => {
  await using app = await openIndexed(Indexed, FEW);
  await indexed(app);
  const walks = fc.record({
    sort: fc.constantFrom("rank" as const, "-name" as const),
    limit: fc.integer({ min: 1, max: 4 }),
    tenant: fc.constantFrom(undefined, "a", "b"),
    changes: fc.array(change, { minLength: 4, maxLength: 12 }),
  });
  const property = fc.asyncProperty(
    fc.array(value, { maxLength: 14 }),
    walks,
    async (ranks, each) => {
      await app.collection.deleteMany({});
      const docs = ranks.map((rank, n) => ({ rank, name: `n${n}`, tenant: "ab"[n % 2] }));
      if (docs.length > 0) {
        await app.collection.insertMany(docs as never, {
          ignoreUndefined: true,
        });
      }
      await walk(app, each);
    },
  );
  await fc.assert(property, RUNS);
});
