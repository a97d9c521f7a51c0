import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { mountPieces, type StoredPiece } from "../../fixtures/pieces.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import { linksOf } from "./links.ts";
import type { Client } from "../../support/client.ts";
import { asQuery } from "../../support/support.ts";

const RUNS = {
  seed: Number(Deno.env.get("LISTS_SEED") ?? 20261122),
  numRuns: Number(Deno.env.get("LISTS_RUNS") ?? casesOf(30)),
};

/** Values that others may have stored, ties and values of wrong types included. */
const value = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 }) },
  { weight: 2, arbitrary: fc.constantFrom(null, undefined) },
  fc.constantFrom<unknown>("", "a", "B", "é", 1.5, -0, NaN, Infinity, true, false, {}, { a: 1 }),
  fc.date({ noInvalidDate: true }),
  fc.constantFrom<unknown>(
    mongoose.Types.Decimal128.fromString("1.5"),
    new mongoose.mongo.Long("9007199254740993"),
    new mongoose.Types.ObjectId("0123456789abcdef01234567"),
    /a/i,
  ),
);

const piece = fc.record({
  rank: value,
  name: value,
  tenant: fc.constantFrom("a", "b"),
  tags: fc.constantFrom([], ["x"]),
  owner: value,
  friends: fc.oneof(value, fc.array(value, { maxLength: 2 })),
});

const populate = fc.constantFrom("", "&populate=owner", "&populate=owner,friends,star");

const sort = fc.uniqueArray(fc.constantFrom("rank", "name", "_id"), { maxLength: 3 }).chain((
  keys,
) => fc.tuple(...keys.map((key) => fc.constantFrom(key, `-${key}`))));

/** What the database sorts by, where a client asks for an order. */
function orderOf(keys: readonly string[]): Map<string, 1 | -1> {
  const order = keys.map((key) => [key.replace("-", ""), key.startsWith("-") ? -1 : 1] as const);
  return new Map([...order, ...order.some(([key]) => key === "_id") ? [] : [["_id", 1] as const]]);
}

/** The query of an order; without one, lists are in the order of identifiers. */
function sortedBy(keys: readonly string[]): string {
  return keys.length === 0 ? "" : `&sort=${keys.join()}`;
}

type App = Awaited<ReturnType<typeof mountPieces>>;

/** Stores entities, and gives their identifiers. */
async function store(app: App, pieces: readonly StoredPiece[]): Promise<string[]> {
  const stored = pieces.map((each) => ({ ...each, _id: new mongoose.Types.ObjectId() }));
  await app.store(stored);
  return stored.map(({ _id }) => String(_id));
}

/** The identifiers that the database gives in an order. */
async function sorted({ Root }: App, keys: readonly string[], filter = {}): Promise<string[]> {
  const found = Root.collection.find(filter, { projection: { _id: 1 } }).sort(orderOf(keys));
  return (await found.toArray()).map(({ _id }) => String(_id));
}

function idsOf(body: unknown): string[] {
  return (body as { _id: string }[]).map(({ _id }) => _id);
}

/** Follows the links of pages; something may happen between them. */
async function walk(
  { get }: Client,
  path: string,
  between: (last: string) => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const reply: Awaited<ReturnType<typeof get>> = await get(next);
    assertEquals(reply.status, 200, reply.text);
    ids.push(...idsOf(reply.body));
    assert(ids.length < 100, "the pages end");
    next = linksOf(reply).next;
    if (next !== undefined) await between(ids.at(-1) ?? "");
  }
  return ids;
}

const ROOTS = ["/bare", "/hooked", "/after", "/lean"];
const limit = fc.integer({ min: 1, max: 4 });

test("the pages of still data are the list, by after and by skip", async () => {
  await using app = await mountPieces([]);
  const pieces = fc.array(piece, { maxLength: 12 });
  const list = fc.constantFrom(...app.lists);
  const property = fc.asyncProperty(
    fc.tuple(pieces, sort, populate),
    ...[limit, list] as const,
    async ([given, keys, populated], size, each) => {
      await store(app, given);
      const expected = await sorted(app, keys);
      const path = `${each}?limit=${size}${sortedBy(keys)}${populated}`;
      assertEquals(await walk(app, path), expected, each);
      const bySkip: string[] = [];
      for (let skip = 0; skip < expected.length; skip += size) {
        bySkip.push(...idsOf(await app.read(`${path}&skip=${skip}`)));
      }
      assertEquals(bySkip, expected, each);
    },
  );
  await fc.assert(property, RUNS);
});

interface Coming {
  readonly _id: mongoose.Types.ObjectId;
  /** Whether it is there first, and goes; the others come. */
  readonly first: boolean;
}

/** Stores those that go; gives what has one go and another one come, with the last entity of a page. */
async function openTurns(collection: mongoose.Collection, waiting: readonly Coming[]) {
  const going = waiting.filter(({ first }) => first);
  const arriving = waiting.filter(({ first }) => !first);
  if (going.length > 0) await collection.insertMany(going, { ignoreUndefined: true });
  return async (last: string | undefined) => {
    const leaving = going.pop();
    // Behind an entity that is gone, no order but that of identifiers continues.
    if (leaving && String(leaving._id) !== last) await collection.deleteOne({ _id: leaving._id });
    const next = arriving.pop();
    if (next) await collection.insertOne(next, { ignoreUndefined: true });
  };
}

test("pages hold what is there all the time once, while others come and go", async () => {
  await using app = await mountPieces([]);
  const stable = fc.array(piece, { minLength: 1, maxLength: 8 });
  const others = fc.array(fc.tuple(piece, fc.boolean()), { minLength: 4, maxLength: 8 });
  const property = fc.asyncProperty(
    fc.tuple(stable, others),
    ...[sort, limit, fc.constantFrom(...ROOTS)] as const,
    async ([given, coming], keys, size, each) => {
      const staying = new Set(await store(app, given));
      const waiting = coming.map(([doc, first]) => ({
        ...{ ...doc, _id: new mongoose.Types.ObjectId(), __v: 0 },
        first,
      }));
      const turn = await openTurns(app.Root.collection, waiting);
      const ids = await walk(app, `${each}?limit=${size}${sortedBy(keys)}`, turn);
      assertEquals(new Set(ids).size, ids.length, "nothing twice");
      const expected = (await sorted(app, keys)).filter((id) => staying.has(id));
      assertEquals(ids.filter((id) => staying.has(id)), expected, "nothing missing");
    },
  );
  await fc.assert(property, RUNS);
});

test("a total is what the database counts in the scope", async () => {
  await using app = await mountPieces([]);
  const pieces = fc.array(piece, { maxLength: 12 });
  const tenant = fc.constantFrom("a", "b", undefined);
  const property = fc.asyncProperty(pieces, tenant, value, async (given, name, bound) => {
    await store(app, given);
    const rank = typeof bound === "number" && Number.isFinite(bound) ? bound : 1;
    const filters: object[] = [{ rank: { $gte: rank } }, { rank: null }, { rank: { $ne: rank } }];
    for (const filter of filters) {
      const headers = { prefer: "count=exact", ...name !== undefined && { "x-tenant": name } };
      const reply = await app.get(`/bare${asQuery(filter)}&limit=2`, { headers });
      const scoped = { ...filter, ...name !== undefined && { tenant: name } };
      const total = await app.Root.collection.countDocuments(scoped);
      assertEquals(reply.headers.get("x-total-count"), String(total));
      assertEquals(idsOf(reply.body), (await sorted(app, [], scoped)).slice(0, 2));
    }
  });
  await fc.assert(property, RUNS);
});
