import { assert, assertEquals } from "@std/assert";
import type { Model } from "mongoose";
import { join } from "node:path";
import type { RequestListener } from "node:http";
import { pathToFileURL } from "node:url";
import { getModel, type ModelClass } from "@mongrove/mongrove";
import { createApp, type CreateAppOptions } from "../../src/new/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { storeOdd } from "../fixtures/odd_database.ts";
import { client } from "../support/client.ts";
import { start } from "../support/support.ts";

/** Makes an application of a database. */
async function makeApp(options: CreateAppOptions) {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-from-" });
  const lines: string[] = [];
  await createApp(folder, { ...options, report: (line) => lines.push(line) });
  // deno-lint-ignore mongrove/literal-import -- the file has just been written
  const load = (name: string) => import(pathToFileURL(join(folder, name)).href);
  return {
    folder,
    lines,
    models: async (): Promise<ModelClass[]> => (await load("models.ts")).models,
    app: async (): Promise<RequestListener> => (await load("app.ts")).buildApp("key"),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const THING = {
  int: 1,
  double: 1.5,
  long: 1,
  large: "9007199254740993",
  decimal: "1.5",
  flag: false,
  bytes: "b2Rk",
  uuid: "6f1c2a9b-1e8a-4d00-8a4d-001000000001",
  tags: ["a", "b"],
  empty: [],
  nested: [[1, 2], [3]],
  place: { type: "Point", coordinates: [4.5, 51.5] },
  scores: { k1: 1 },
  days: { "2026-01-01": { open: true, key: "v" } },
  mixed: "five",
  mostly: 1,
  "one or more": ["a"],
  "a-b c": "x",
  "1st": "y",
  class: "z",
  static: "z",
  blank: "",
  optional: 1,
};

/** Lists, and the first entity of each without values that differ from run to run. */
const LISTS: Readonly<Record<string, object>> = {
  "/odd-things?sort=int&skip=1": THING,
  "/OddMaps": { _id: "a/b", "odd country": "odd_de" },
  "/odd_country": { _id: "odd_de", name: "Germany" },
  "/odd_countrys": { _id: 1, oddCountryId: "odd_fr" },
  "/odd_uuids": {},
  "/odd_rings": { _id: "r", oddRing: "r" },
  "/odd_view": { name: "Owner 0", auth: { email: "o0@example.org" } },
  "/odd_series": { at: "2001-09-09T01:46:40.000Z", who: "x", value: 1 },
  "/odd_capped": { line: "x" },
  "/odd_collated": { word: "x", other: "y" },
  "/docs_2": { title: "taken route" },
  "/odd__": { x: 1 },
};

for (const plain of [false, true]) {
  const form = plain ? "define()" : "decorators";

  test(`new --from writes models by ${form}, which show odd data and hide secrets`, async () => {
    await using database = await openDatabase();
    await storeOdd(database.connection);
    await using made = await makeApp({ from: database.uri, plain });
    await using served = await start(await made.app());
    const { read, get } = client(served, { authorization: "key" });
    for (const [path, expected] of Object.entries(LISTS)) {
      const [first] = await read<Record<string, unknown>[]>(path);
      const shown = Object.keys(expected).map((name) => [name, first?.[name]]);
      assertEquals(Object.fromEntries(shown), expected, path);
      assertEquals((await client(served).get(path)).status, 401);
    }
    const { text } = await get("/odd_owners");
    assert(!/secret-|hash|token/i.test(text), text);
    const refused = await get(`/odd_owners?q=${encodeURIComponent('{"passwordHash":"secret-1"}')}`);
    assertEquals(refused.status, 400);
  });

  test(`new --from writes models by ${form}, whose updates keep undeclared fields`, async () => {
    await using database = await openDatabase();
    await storeOdd(database.connection);
    await using made = await makeApp({ from: database.uri, plain });
    await using served = await start(await made.app());
    const { read, updated, created, get } = client(served, { authorization: "key" });
    const [thing] = await read<{ _id: string }[]>("/odd-things?sort=-int&limit=1");
    await updated(`/odd-things/${thing?._id}`, { tags: ["c"], mixed: 6 });
    const stored = await database.connection.collection("odd-things").findOne({ int: 199 });
    const names = ["tags", "mixed", "collection", "$dollar", "__v"];
    assertEquals(names.map((name) => stored?.[name]), [["c"], 6, "reserved", 1, 1]);
    await created("/odd_country", { _id: "odd_it", name: "Italy" });
    await created("/odd_capped", { line: "y" });
    assertEquals((await get("/odd_country/odd_it")).status, 200);
  });

  test(`new --from declares the indexes by ${form} as they are`, async () => {
    await using database = await openDatabase();
    await storeOdd(database.connection);
    await using made = await makeApp({ from: database.uri, plain });
    let count = 0;
    for (const each of await made.models()) {
      const model = getModel(each) as unknown as Model<unknown>;
      if (["odd_view", "odd_series"].includes(model.collection.name)) continue;
      const { toCreate, toDrop } = await model.diffIndexes();
      assertEquals([each.name, toCreate], [each.name, []]);
      const undeclared = model.collection.name === "odd-things" ? ["on_-1"] : [];
      assertEquals([each.name, toDrop], [each.name, undeclared]);
      count += model.schema.indexes().length;
    }
    assertEquals(count, 10);
  });
}

/** Lines of the report about odd data, without the number of entities. */
const REPORT = [
  "odd-things.mixed: 100 Number, 100 String: declared as any values",
  "odd-things.esc\ufffd[31m: 100 Number, 100 String: declared as any values",
  "odd-things.rare: 1 String: not declared, in 1 of 200 objects only",
  "odd-things.with.dot: 200 Number: not declared, no field can have the name",
  "odd-things.collection: 200 String: not declared, Mongoose's documents have a member of the name",
  'odd-things: the index "on_-1" is not declared: values in its filter that JSON does not have',
  'odd.files: no model, because it belongs to the GridFS "odd"',
  "odd_capped: 1 entities read (capped)",
  "odd_empty: no model, because it is empty",
  "odd_ids: no model, because its _id has several types, or a type that no path can name",
  "odd_owners.auth.resetToken: hidden, because of its name or a name in it",
  "odd_series: 1 entities read (timeseries)",
  "odd_view: 2 entities read (view)",
  'odd-things.owner: 50 of 50 identifiers are in "odd_owners": a reference',
  'odd-things.keepers: 2 of 69 identifiers are in "odd_owners": no reference',
  'odd_owners.favorite: 1 of 1 identifiers are in "odd_trees": a reference',
  'odd_trees.owner: 2 of 2 identifiers are in "odd_owners": a reference',
  'odd_trees.parentId: 1 of 1 identifiers are in "odd_trees": a reference',
  'odd_rings.oddRing: 1 of 1 identifiers are in "odd_rings": no reference, because it is circular',
  'odd_countrys.oddCountryId: 1 of 2 identifiers are in "odd_country": a reference',
];

/** Values of the odd database. */
const VALUES = /secret-\d|Owner \d|Germany|odd_de|example\.org|taken route/;

test("new --from reports decisions with counts, and writes no values", async () => {
  await using database = await openDatabase();
  await storeOdd(database.connection);
  await using made = await makeApp({ from: database.uri });
  for (const line of REPORT) assert(made.lines.includes(line), `${line}\n${made.lines.join("\n")}`);
  const texts = [made.lines.join("\n")];
  for (const folder of [made.folder, join(made.folder, "models")]) {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (isFile) texts.push(await Deno.readTextFile(join(folder, name)));
    }
  }
  assert(texts.length > 15);
  for (const text of texts) assert(!VALUES.test(text), text);
});
