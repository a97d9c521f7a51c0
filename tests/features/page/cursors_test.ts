import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { all, FrameworkModel, type FrameworkRequest, getModel, prop, rest } from "../../../mod.ts";
import { connect } from "../../../src/client/mod.ts";
import { Indexed, type IndexedApp, openIndexed, sorted } from "../../fixtures/indexed.ts";
import { mountPieces, pieceId, placesOf, ranked } from "../../fixtures/pieces.ts";
import type { Reply } from "../../harness/request.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import { continuesBehind, linksOf, readPages } from "./links.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { type EntityBody, mount } from "../../support/support.ts";

const RUNS = { seed: Number(Deno.env.get("LISTS_SEED") ?? 20261122), numRuns: casesOf(30) };

const { BSON, Binary, Code, DBRef, Double, Long, MinKey } = mongoose.mongo;
const { Decimal128, ObjectId, UUID } = mongoose.Types;

interface Refusal {
  readonly parameter?: string;
}

type Pieces = Awaited<ReturnType<typeof mountPieces>>;

/** Changes an entity wherever it is stored. */
async function change(
  { Root, DressedRoot, Shelf }: Pieces,
  name: string,
  rank: unknown,
): Promise<void> {
  for (const model of [Root, DressedRoot]) {
    await model.collection.updateOne({ name }, { $set: { rank } });
  }
  for (const list of ["pieces", "hooked", "boxes.$[].pieces"]) {
    const at = { arrayFilters: [{ "each.name": name }] };
    await Shelf.collection.updateMany({ hooked: { $exists: true } }, {
      $set: { [`${list}.$[each].rank`]: rank },
    } as never, at);
  }
}

async function remove({ Root, DressedRoot, Shelf }: Pieces, name: string): Promise<void> {
  for (const model of [Root, DressedRoot]) await model.collection.deleteOne({ name });
  for (const list of ["pieces", "hooked", "boxes.$[].pieces"]) {
    await Shelf.collection.updateMany({ hooked: { $exists: true } }, {
      $pull: { [list]: { name } },
    } as never);
  }
}

test("pages lose nothing behind an entity that is changed or removed after it was read", async () => {
  await using app = await mountPieces(ranked(5));
  for (const rank of [9, -1, null, "x", undefined]) {
    for (const list of app.lists) {
      await app.store(ranked(5).map((each, index) => ({ _id: pieceId(index), ...each })));
      const first = await app.get(`${list}?sort=rank&limit=2`);
      if (rank === undefined) await remove(app, "n1");
      else await change(app, "n1", rank);
      const pages = await readPages(app, linksOf(first).next ?? "");
      const places = pages.flatMap(({ body }) => placesOf(body)).filter((place) => place !== 1);
      assertEquals([list, rank, places], [list, rank, [2, 3, 4]]);
    }
  }
});

/** Values with ties, of the declared type and of others. */
const value = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 }) },
  fc.constantFrom<unknown>(null, 1.5, -0, NaN, "b", [], [2, 0], true, { a: 1 }, /x/i),
  fc.constantFrom<unknown>(
    new Long("9007199254740993"),
    Decimal128.fromString("1.50"),
    new Date(5),
    new UUID("123e4567-e89b-42d3-a456-426614174000"),
    "long ".repeat(500),
  ),
);

/** What others do between two pages: to the last entity, or to any. */
const turn = fc.record({
  kind: fc.constantFrom("none", "move", "remove", "insert", "leave"),
  isLast: fc.boolean(),
  pick: fc.nat(),
  rank: value,
});

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

interface Walked {
  readonly seen: readonly string[];
  /** What was there all the time. */
  readonly stable: ReadonlySet<string>;
}

/** Walks from page to page while others change the list; `undefined` where a page is refused. */
async function walk(
  { get, collection }: IndexedApp,
  { path, turns }: { readonly path: string; readonly turns: readonly Turn[] },
): Promise<Walked | undefined> {
  const all = (await collection.find().toArray()).map(({ _id }) => String(_id));
  const touched = new Set<string>();
  const seen: string[] = [];
  let next: string | undefined = path;
  for (let index = 0; next !== undefined; index++) {
    const reply: Reply<EntityBody[]> = await get<EntityBody[]>(next);
    if (reply.status === 400) {
      // The values of such an entity are in no cursor, and it is not where it was.
      assertEquals(Object(reply.body).parameter, "after");
      assert(touched.has(continuesBehind(next) ?? ""), "refused without a change");
      return undefined;
    }
    assertEquals(reply.status, 200, reply.text);
    seen.push(...reply.body.map(({ _id }) => _id));
    next = linksOf(reply).next;
    const { kind, isLast, pick, rank } = turns[index] ?? { ...turns[0] as Turn, kind: "none" };
    const name = isLast ? seen.at(-1) : all[pick % all.length];
    const _id = new ObjectId(name);
    if (kind === "insert") await collection.insertOne({ rank, name: String(_id) + index } as never);
    if (kind === "insert" || kind === "none" || name === undefined) continue;
    touched.add(name);
    const set = kind === "move" ? { rank } : { tenant: "c" };
    if (kind === "remove") await collection.deleteOne({ _id });
    else await collection.updateOne({ _id }, { $set: set, $inc: { __v: 1 } } as never);
  }
  return { seen, stable: new Set(all.filter((id) => !touched.has(id))) };
}

test("pages show once what is there all the time, whatever others do to the rest", async () => {
  await using app = await openIndexed(Indexed, [{}]);
  let finished = 0;
  const property = fc.asyncProperty(
    fc.tuple(fc.array(value, { minLength: 4, maxLength: 14 }), fc.integer({ min: 1, max: 3 })),
    fc.array(turn, { minLength: 1, maxLength: 8 }),
    fc.constantFrom("/plain", "/hooked", "/lean"),
    fc.constantFrom<1 | -1>(1, -1),
    async ([ranks, limit], turns, at, direction) => {
      await app.collection.deleteMany({});
      const docs = ranks.map((rank, n) => ({ rank, name: `n${n}`, tenant: "a", __v: 0 }));
      await app.collection.insertMany(docs as never);
      const sort = direction === 1 ? "rank" : "-rank";
      const walked = await walk(app, { path: `${at}?sort=${sort}&limit=${limit}`, turns });
      if (walked === undefined) return;
      finished++;
      const { seen, stable } = walked;
      const list = await sorted(app, { rank: direction, _id: 1 });
      assertEquals(seen.filter((id) => stable.has(id)), list.filter((id) => stable.has(id)));
    },
  );
  await fc.assert(property, RUNS);
  assert(finished > RUNS.numRuns / 2, `only ${finished} walks came to their end`);
});

test("a page behind a cursor is one statement, on every way", async () => {
  await using app = await mountPieces(ranked(9));
  const sent = await watchCommands(app.database.uri);
  for (const list of app.lists) {
    const counts: number[] = [];
    for (let next: string | undefined = `${list}?sort=-rank&limit=3`; next !== undefined;) {
      sent.length = 0;
      const reply: Reply = await app.get(next);
      assertEquals(reply.status, 200, reply.text);
      counts.push(sent.filter(({ name }) => name === "find" || name === "aggregate").length);
      next = linksOf(reply).next;
    }
    // Parents are read first, for each page.
    const [first] = counts;
    assertEquals([list, counts], [list, [first, first, first]]);
    if (!list.startsWith("/shelves")) assertEquals(first, 1);
  }
});

test("after an identifier, a page begins where that entity stands now", async () => {
  await using app = await mountPieces(ranked(5));
  const sent = await watchCommands(app.database.uri);
  for (const list of app.lists) {
    await app.store(ranked(5).map((each, index) => ({ _id: pieceId(index), ...each })));
    await change(app, "n1", 2.5);
    sent.length = 0;
    const { body } = await app.get(`${list}?sort=rank&after=${pieceId(1)}`);
    assertEquals([list, placesOf(body)], [list, [3, 4]]);
    if (list === "/bare") assertEquals(sent.map(({ name }) => name), ["find", "find"]);
  }
});

/** Identifiers that others may have stored. */
const IDS = [
  ...["imported", "", "0".repeat(24), 5, 2.5, true, new Date(5), { tenant: "a", n: 1 }, null],
  ...[new Long("9007199254740993"), new UUID("123e4567-e89b-42d3-a456-426614174000")],
  ...[new Binary(Buffer.from("ab"), 0), Decimal128.fromString("1.5"), "x".repeat(900)],
];

test("pages go on behind identifiers of any type", async () => {
  await using app = await openIndexed(Indexed, [{}]);
  const { collection } = app;
  for (const ids of [[new ObjectId(), "imported", new ObjectId(), new ObjectId()], IDS]) {
    await collection.deleteMany({});
    await collection.insertMany(
      ids.map((_id, n) => ({ _id, rank: n % 3, name: `n${n}`, __v: 0 })) as never,
      { forceServerObjectId: true } as never,
    );
    for (const at of ["/plain", "/hooked", "/lean"]) {
      for (const sort of ["", "&sort=-_id", "&sort=rank", "&sort=-name"]) {
        const pages = await readPages(app, `${at}?limit=1${sort}`);
        const names = pages.flatMap(({ body }) =>
          (body as { name: string }[]).map(({ name }) => name)
        );
        assertEquals([at, sort, new Set(names).size, names.length], [
          at,
          sort,
          ids.length,
          ids.length,
        ]);
      }
    }
  }
});

/** Bytes that {@linkcode forge} declares to be a vector, of a form that no vector has. */
const BAD_VECTOR = new Binary(Buffer.from("\x03\x01"), 0x77);

/** A cursor as a client could make one up. No library writes the key by which the driver knows its values. */
function forge(given: object): string {
  const bytes = Buffer.from(BSON.serialize(given)).toString("latin1")
    .replaceAll("_bsontyp?", "_bsontype").replaceAll("\x77\x03\x01", "\x09\x03\x01");
  return Buffer.from(bytes, "latin1").toString("base64url");
}

function decode(link: string | undefined): Record<string, unknown> {
  const after = new URL(link ?? "", "http://localhost").searchParams.get("after") ?? "";
  return BSON.deserialize(Buffer.from(after, "base64url"));
}

/** Cursors that no server writes in the order `rank`. */
function madeUp(
  { o, id }: { readonly o: unknown; readonly id: mongoose.Types.ObjectId },
): string[] {
  const cursors = [
    ...["x", "AAAA", "_".repeat(80), "a".repeat(5000), "MAAAAA", `${forge({ o, v: [1, id] })}AAAA`],
    ...[{}, { v: [1, id] }, { o, v: [] }, { o, v: [1] }, { o, v: [1, 2, id] }, { o, v: { 0: 1 } }],
    ...[[/x/, id], [{ $gt: "" }, id], [{}, id], [[1], id], [new Code("1"), id], [new MinKey(), id]]
      .map((v) => ({ o, v })),
    ...[{ $gt: null }, { $ne: 1 }, /x/, [id], { a: { $exists: true } }].flatMap((
      bad,
    ) => [
      { o, v: [1, bad] },
      { o, i: bad },
    ]),
    ...[{ "_bsontyp?": "ObjectId" }, { "_bsontyp?": "Int32", value: 1 }, new DBRef("a", id)]
      .flatMap((
        bad,
      ) => [
        { o, v: [1, bad] },
        { o, v: [bad, id] },
        { o, i: bad },
      ]),
    ...[{ v: [BAD_VECTOR, id] }, { v: [1, BAD_VECTOR] }, { i: { a: BAD_VECTOR } }]
      .map((bad) => ({ o, ...bad })),
    { o, i: id, n: 7 },
    { o: "x", i: id },
    { o, i: NaN },
    { o, i: Array(300).fill(0).reduce((inner) => ({ a: inner }), {}) },
  ];
  return cursors.map((each) => typeof each === "string" ? each : forge(each));
}

test("a cursor that belongs to another order, or is none, is 400", async () => {
  await using app = await mountPieces(ranked(6));
  const { next } = linksOf(await app.get("/bare?sort=rank&limit=2"));
  const { o } = decode(next);
  const refused = madeUp({ o, id: pieceId(1) });
  for (const list of app.lists) {
    for (const after of refused) {
      const { status, body } = await app.get<Refusal>(`${list}?sort=rank&after=${after}`);
      assertEquals([list, after, status, Object(body).parameter], [list, after, 400, "after"]);
    }
    const own = linksOf(await app.get(`${list}?sort=rank&limit=2`)).next ?? "";
    for (const sort of ["-rank", "name", "rank,-name", "_id", "rank,-_id"]) {
      const { status, body } = await app.get<Refusal>(own.replace("sort=rank", `sort=${sort}`));
      assertEquals([list, sort, status, body.parameter], [list, sort, 400, "after"]);
    }
    assertEquals(placesOf((await app.get(own)).body), [2, 3, 4].slice(0, 2));
  }
});

test("a cursor shows nothing but what is in the scope, and what hooks show", async () => {
  const pieces = ranked(8).map((each) => ({ ...each, tenant: Number(each.rank) < 4 ? "a" : "b" }));
  await using app = await mountPieces(pieces);
  const { o } = decode(linksOf(await app.get("/bare?sort=rank&limit=2")).next);
  for (const list of app.lists) {
    const after = forge({ o, v: [new Double(1), new ObjectId("0".repeat(24))] });
    const path = `${list}?sort=rank&limit=10&after=${after}`;
    const read = async (headers: Record<string, string>) =>
      placesOf((await app.get(path, { headers })).body);
    assertEquals([list, await read({ "x-tenant": "a" })], [list, [1, 2, 3]]);
    assertEquals(await read({ "x-below": "3" }), [1, 2]);
    assertEquals(await read({ "x-only": "n5" }), [5]);
    if (app.hooked.includes(list)) assertEquals(await read({ "x-even": "1" }), [2, 4, 6]);
  }
});

/** Takes away what a list is sorted by, or changes it. */
const masked = {
  page: { max: 2 },
  sort: ["salary", "hired"],
  preFetch: (req: FrameworkRequest) => {
    const order = req.get("x-order");
    if (order !== undefined) req.framework.options.sort = order;
    const projection = req.get("x-projection");
    if (projection !== undefined) req.framework.projection = JSON.parse(projection);
    return true;
  },
} as const;

@rest({ route: "/shown", methods: [all(masked)] })
@rest({
  route: "/masked",
  methods: [all({
    ...masked,
    preSend: (req, entity) => {
      const { _id, name, salary, hired } = entity as Worker & { _id: unknown };
      return req.get("x-all") === undefined
        ? { _id, name } as never
        : { _id, name, salary, hired } as never;
    },
  })],
})
class Worker extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  salary?: number;
  @prop({ type: Date })
  hired?: Date;
  @prop({ type: Number, hidden: true })
  score?: number;
}

/** Serves workers whose values are in no way to be guessed from their identifiers. */
async function mountWorkers() {
  const app = await mount([Worker]);
  const names = ["a", "b", "c", "d", "e"];
  await getModel(Worker).create(
    names.map((name, n) => ({
      name,
      salary: 4711 + n,
      score: 4711 + n,
      hired: new Date(4711 + n),
    })),
  );
  const namesOf = (body: unknown) => (body as { name: string }[]).map(({ name }) => name);
  return Object.assign(app, { namesOf });
}

/** Lists that do not show what they are sorted by, and who asks for them. */
const UNSEEN: readonly (readonly [path: string, headers: Record<string, string>])[] = [
  ["/masked?sort=salary", {}],
  ["/masked?sort=hired", {}],
  ["/shown", { "x-order": "score" }],
  ["/shown", { "x-order": "-score name" }],
  ["/shown?sort=salary", { "x-projection": '{"salary":0}' }],
  ["/shown?sort=salary", { "x-projection": '{"name":1}' }],
];

test("a cursor has no value that the page does not show", async () => {
  await using app = await mountWorkers();
  for (const [path, headers] of UNSEEN) {
    const pages = await readPages(app, path, { headers });
    const names = pages.flatMap(({ body }) => app.namesOf(body)).join("");
    assertEquals([path, names], [path, headers["x-order"]?.startsWith("-") ? "edcba" : "abcde"]);
    const { v, i, o } = decode(linksOf(pages[0] as Reply).next);
    assertEquals([path, v], [path, undefined]);
    const other = await app.get<Refusal>(
      `${path}${path.includes("?") ? "&" : "?"}after=${forge({ o, v: [4712, i] })}`,
      { headers },
    );
    // Whoever sorts by a field that only hooks take away may filter by it, too
    assertEquals([path, other.status], [path, path.startsWith("/masked") ? 200 : 400]);
  }
  const { v } = decode(
    linksOf(await app.get("/masked?sort=hired", { headers: { "x-all": "1" } })).next,
  );
  assertEquals((v as unknown[])[0], new Date(4712));
});

test("a page behind an entity that has changed is 400 where the cursor has no value", async () => {
  for (const [path, headers] of UNSEEN) {
    await using app = await mountWorkers();
    const { next } = linksOf(await app.get(path, { headers }));
    const _id = continuesBehind(next) ?? "";
    await getModel(Worker).updateOne({ _id }, {
      $set: { salary: 9999, score: 9999, hired: new Date(9999) },
      $inc: { __v: 1 },
    });
    const { status, body } = await app.get<Refusal>(next, { headers });
    assertEquals([path, status, body.parameter], [path, 400, "after"]);
  }
});

test("each() shows every entity once to a loop that changes what it is sorted by", async () => {
  await using app = await openIndexed(Indexed, ranked(9));
  const api = connect(app.url);
  for (const list of ["/plain", "/hooked", "/lean"]) {
    await app.collection.deleteMany({});
    await app.collection.insertMany(ranked(9) as never);
    const seen: unknown[] = [];
    for await (const { name } of api.resource<Indexed>(list).each({ sort: ["rank"], limit: 2 })) {
      seen.push(name);
      if (seen.length > 20) break;
      await app.collection.updateOne({ name: name ?? "" }, { $inc: { rank: 100 } });
    }
    // The last two are met again, where they stand now.
    assertEquals([list, seen.slice(0, 9)], [list, ranked(9).map(({ name }) => name)]);
  }
});
