import { assertEquals } from "@std/assert";
import type { Connection } from "mongoose";
import { join } from "node:path";
import { createApp } from "../../src/new/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";

type Store = Connection["collection"];

/** Makes an application of two collections, and returns a function that runs `new --from` again. */
async function openChanging() {
  const database = await openDatabase();
  const store: Store = (name) => database.connection.collection(name);
  await store("changing_cats").insertMany([{ name: "a", age: 1 }, { name: "b", age: 2 }]);
  await store("changing_dogs").insertOne({ name: "x" });
  const folder = await Deno.makeTempDir({ prefix: "mongrove-from-" });
  await createApp(folder, { from: database.uri });
  return {
    store,
    folder,
    read: (name: string) => Deno.readTextFile(join(folder, name)),
    async again(write?: boolean) {
      const lines: string[] = [];
      const report = (line: string) => void lines.push(line);
      const files = await createApp(folder, {
        from: database.uri,
        report,
        ...write && { write },
      });
      return { lines, files };
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const NONE = { lines: ["The database and the models have no differences"], files: [] };

const ALL = "all({ page: { max: 100 }, count: true }), one(), create(), update(), remove()";

/** Changes of the database, and the lines of a second run. */
const CASES: readonly (readonly [string, (store: Store) => Promise<unknown>, string[]])[] = [
  [
    "a field that comes",
    (store) => store("changing_cats").updateOne({ name: "a" }, { $set: { color: "red" } }),
    [
      "+ changing_cats.color: String",
    ],
  ],
  [
    "a name that controls a terminal",
    (store) => store("changing_dogs").updateOne({}, { $set: { "a\u001b[31m": 1 } }),
    ["+ changing_dogs.a\ufffd[31m: Number, required"],
  ],
  ["a field that goes", (store) => store("changing_cats").updateMany({}, { $unset: { age: 1 } }), [
    "- changing_cats.age: Number, required",
  ]],
  [
    "a field that is missing somewhere",
    (store) => store("changing_cats").insertOne({ name: "c" }),
    [
      "~ changing_cats.age: Number, required → Number",
    ],
  ],
  ["an index", (store) => store("changing_cats").createIndex({ name: 1 }, { unique: true }), [
    `~ changing_cats.operations: ${ALL} → ${ALL.replace("true })", 'true, sort: ["name"] })')}`,
    '+ changing_cats.index {"name":1}: {"unique":true}',
  ]],
  ["a collection that comes", (store) => store("changing_birds").insertOne({ name: "x" }), [
    "+ changing_birds",
  ]],
  ["a collection that is empty", (store) => store("changing_dogs").deleteMany({}), [
    "- changing_dogs",
    "changing_dogs: no model, because it is empty",
  ]],
];

test("new --from a second time reports changes, and writes them only with --write", async (t) => {
  for (const [words, change, expected] of CASES) {
    await t.step(words, async () => {
      await using changing = await openChanging();
      assertEquals(await changing.again(), NONE);
      await change(changing.store);
      for (const _ of [1, 2]) {
        assertEquals(await changing.again(), { lines: expected, files: [] });
      }
      const { files } = await changing.again(true);
      assertEquals(files.at(-1), "models.json");
      const isGone = expected[0] === "- changing_dogs";
      assertEquals(await changing.again(), isGone ? { lines: expected, files: [] } : NONE);
    });
  }
});

test("new --from --write keeps files that were changed by hand", async () => {
  await using changing = await openChanging();
  const { store, folder, read } = changing;
  const own = await read("models/changing_cat.ts") + "// mine\n";
  await Deno.writeTextFile(join(folder, "models/changing_cat.ts"), own);
  await Deno.writeTextFile(join(folder, "app.ts"), "// mine\n");
  await store("changing_cats").updateMany({}, { $set: { tail: true } });
  await store("changing_dogs").updateMany({}, { $set: { tail: true } });
  const { lines, files } = await changing.again(true);
  assertEquals(files, ["models/changing_dog.ts", "models.json"]);
  assertEquals(lines, [
    "+ changing_cats.tail: Boolean, required",
    "+ changing_dogs.tail: Boolean, required",
    "models/changing_cat.ts was changed by hand, and is not written",
  ]);
  assertEquals(await read("models/changing_cat.ts"), own);
  assertEquals(await read("app.ts"), "// mine\n");
  assertEquals(await changing.again(), NONE);
});

test("new --from --write does not bring back a model that was removed by hand", async () => {
  await using changing = await openChanging();
  const { store, folder } = changing;
  const removed = "models/changing_dog.ts";
  await Deno.remove(join(folder, removed));
  await store("changing_dogs").updateMany({}, { $set: { tail: true } });
  assertEquals(await changing.again(true), {
    lines: [
      "+ changing_dogs.tail: Boolean, required",
      `${removed} was removed by hand, and is not written`,
    ],
    files: ["models.json"],
  });
});
