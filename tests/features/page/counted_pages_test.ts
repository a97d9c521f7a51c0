import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { all, FrameworkModel, type FrameworkRequest, getModel, prop, rest } from "../../../mod.ts";
import type { ModelClass, QueryObject } from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../../support/support.ts";

/** What the `preFetch` hook gives to the next requests. */
const given: { options: QueryObject; projection: QueryObject; filter: QueryObject } = {
  options: {},
  projection: {},
  filter: {},
};

function giveOptions(req: FrameworkRequest): boolean {
  Object.assign(req.framework.options, given.options);
  Object.assign(req.framework.projection, given.projection);
  Object.assign(req.framework.filter, given.filter);
  return true;
}

const read = {
  page: { size: 3, max: 200 },
  sort: ["rank"],
  select: ["name"],
  count: { upTo: 150 },
  preFetch: giveOptions,
} as const;

/** Counts that middleware has seen. */
let counts = 0;

class Piece extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({
  route: "/tracks",
  methods: [all(read)],
  scope: () => ({ name: { $ne: "closed" } }),
})
class Track extends Piece {
  static override configure(schema: Schema): void {
    schema.index({ name: "text" });
  }
}

@rest({ route: "/watched", methods: [all(read)] })
class Watched extends Piece {
  static override configure(schema: Schema): void {
    schema.pre("countDocuments", () => void counts++);
  }
}

/** Serves a model with some entities, and tells the total of a list and the commands that it took. */
async function open(model: ModelClass, ranks: readonly number[]) {
  Object.assign(given, { options: {}, projection: {}, filter: {} });
  const app = await mount([model]);
  const docs = ranks.map((rank) => ({ rank, name: `n${rank}` }));
  await getModel(model).init();
  await getModel(model).collection.insertMany([...docs, { rank: -1, name: "closed" }] as never);
  const sent = await watchCommands(app.database.uri);
  const ask = async (path: string, prefer = "count=exact") => {
    sent.length = 0;
    const { status, body, headers } = await app.get<EntityBody[]>(path, { headers: { prefer } });
    const shown = status === 200 ? body.map(({ rank }) => rank) : status;
    const range = headers.get("content-range")?.slice("items ".length);
    return { shown, body, range, sent: sent.map(({ name }) => name) };
  };
  return Object.assign(app, { ask });
}

const TEN = Array.from({ length: 10 }, (_, rank) => rank);

test("all() reads a page and its total by one statement", async () => {
  await using app = await open(Track, TEN);
  const cases: Record<string, [number[], string]> = {
    "": [[0, 1, 2], "0-2/10"],
    "?sort=-rank&limit=2": [[9, 8], "0-1/10"],
    "?sort=rank&skip=8": [[8, 9], "8-9/10"],
    "?limit=200": [TEN, "0-9/10"],
    "?skip=10": [[], "*/10"],
    [`${asQuery({ rank: { $gte: 5 } })}&limit=1`]: [[5], "0-0/5"],
    [asQuery({ rank: 99 })]: [[], "*/0"],
  };
  for (const [query, [ranks, total]] of Object.entries(cases)) {
    const { shown, range, sent } = await app.ask(`/tracks${query}`);
    assertEquals([query, shown, range, sent], [query, ranks, total, ["aggregate"]]);
  }
  const { shown, sent } = await app.ask("/tracks", "");
  assertEquals([shown, sent], [[0, 1, 2], ["find"]]);
});

test("all() counts the whole list, wherever a page of it begins", async () => {
  await using app = await open(Track, TEN);
  const { body: [, , last] } = await app.ask("/tracks?sort=rank");
  const { shown, range, sent } = await app.ask(`/tracks?sort=rank&after=${last?._id}&limit=4`);
  assertEquals([shown, range, sent], [[3, 4, 5, 6], "*/10", ["find", "aggregate"]]);
});

test("all() counts no more entities than declared, and pages may be longer than a batch", async () => {
  await using app = await open(Track, Array.from({ length: 151 }, (_, rank) => rank));
  const long = await app.ask("/tracks?sort=rank&limit=150");
  assertEquals([long.body.length, long.range, long.sent], [150, "0-149/*", ["aggregate"]]);
  const { range } = await app.ask(`/tracks${asQuery({ rank: { $lt: 150 } })}`);
  assertEquals(range, "0-2/150");
});

test("all() shows in a counted page what it shows in any other", async () => {
  await using app = await open(Track, TEN);
  for (const query of ["?sort=-rank", "?sort=rank&select=name", "?limit=1"]) {
    const { body } = await app.ask(`/tracks${query}`, "");
    assertEquals((await app.ask(`/tracks${query}`)).body, body);
  }
  given.projection = { rank: 0 };
  assertEquals((await app.ask("/tracks")).body, (await app.ask("/tracks", "")).body);
  given.options = { collation: { locale: "en", strength: 1 }, comment: "mine" };
  const { range, sent } = await app.ask(`/tracks${asQuery({ name: "N4" })}`);
  assertEquals([range, sent], ["0-0/1", ["aggregate"]]);
});

test("all() counts apart what one statement cannot", async () => {
  await using app = await open(Track, TEN);
  const cases: Record<string, Partial<typeof given>> = {
    hint: { options: { hint: { _id: 1 } } },
    identifiers: { projection: { _id: 0 } },
    text: { filter: { $text: { $search: "n1 n2 n3 n4" } } },
  };
  for (const [name, gives] of Object.entries(cases)) {
    Object.assign(given, { options: {}, projection: {}, filter: {} }, gives);
    const { range, sent } = await app.ask("/tracks?limit=2");
    const total = name === "text" ? "0-1/4" : "0-1/10";
    assertEquals([name, range, sent.toSorted()], [name, total, ["aggregate", "find"]]);
  }
});

test("all() counts by Mongoose where middleware has to see it", async () => {
  counts = 0;
  await using app = await open(Watched, TEN);
  const { range, sent } = await app.ask("/watched");
  assertEquals([range, sent.toSorted(), counts], ["0-2/11", ["aggregate", "find"], 1]);
});

/** Serves tracks from a server that refuses the next statement with a code. */
async function openRefusing(errorCode: number) {
  const mongo = await openReplicaSet();
  const connection = await mongoose.createConnection(mongo.uri).asPromise();
  @rest({ route: "/old", methods: [all(read)], getConnection: () => connection })
  class Old extends Piece {}
  const app = await mount([Old], { onError: () => {} });
  await connection.collection("olds").insertMany([{ rank: 1 }, { rank: 2 }]);
  const data = { failCommands: ["aggregate"], errorCode };
  await connection.getClient().db("admin")
    .command({ configureFailPoint: "failCommand", mode: { times: 1 }, data });
  return {
    get: () => app.get("/old", { headers: { prefer: "count=exact" } }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await connection.close();
      await mongo.stop();
    },
  };
}

test("all() does not hide errors of a counted page", async () => {
  await using old = await openRefusing(292);
  assertEquals((await old.get()).status, 503);
  assertEquals((await old.get()).status, 200);
});
