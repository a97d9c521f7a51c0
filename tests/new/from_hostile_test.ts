import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Framework } from "@mongrove/mongrove";
import { createApp } from "../../src/new/mod.ts";
import { makeProject } from "../docs/tutorial/make_project.ts";
import { openDatabase } from "../harness/database.ts";
import { longTest, test } from "../harness/testing.ts";
import { bsonOf, insertRaw, textOf } from "../support/made/raw_bson.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { client } from "../support/client.ts";
import { start } from "../support/support.ts";

/** Names of collections, by which a client could reach the files and the code of the written application. */
const COLLECTIONS = [
  ...["q'\"y", "a\nb", "a*/throw 1;/*", "**//", "a\\", "x`y`", "/etc/x", "a/../../x"],
  ...["prototype", "class", "undefined", "NaN", "types"],
  ...["Cats", "cats", "CATS", "m²", "½", "٣x", "Ⅷ", "İ", "\u2028evil", "\u202Eevil"],
  ...["a".repeat(200), "aB".repeat(100), "字".repeat(60), "𝕩".repeat(50)],
];

/** Names of collections that Mongoose cannot open. */
const MEMBERS = ["__proto__", "constructor", "toString"];

/** Names of fields, of which some have an object. */
const FIELDS = [
  ...["id", "then", "await", "static", "declare", "accessor", "arguments", "schemaOptions", "on"],
  ...["`", "a\\", "#x", "", "\u2028", "constructor", "prototype", "__proto__", "configure"],
];

const PARTS = ["error", "m²", "½", "Name", "name", "a\nb", "*/", "k".repeat(500)];

function hostileEntity(): Record<string, unknown> {
  const parts = PARTS.map((name) => [name, { inner: 1 }] as const);
  const copy = { __v: 0, _id: 1, constructor: 1, name: "x" };
  return Object.fromEntries([...FIELDS.map((name) => [name, 1] as const), ...parts, [
    "copy",
    copy,
  ]]);
}

async function openHostile() {
  const database = await openDatabase();
  const { db } = database.connection;
  if (db === undefined) throw new Error("Not connected");
  for (const name of [...COLLECTIONS, ...MEMBERS]) {
    await db.collection(name).insertOne(hostileEntity());
    await db.collection(name).createIndex(Object.fromEntries([["__proto__", 1]]));
  }
  return database;
}

for (const plain of [false, true]) {
  const form = plain ? "define()" : "decorators";

  test(`new --from writes an application by ${form}, whatever names clients have chosen`, async () => {
    await using database = await openHostile();
    const folder = await Deno.makeTempDir({ prefix: "mongrove-from-" });
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    await createApp(folder, { from: database.uri, plain, report });
    for (const name of MEMBERS) {
      assert(lines.some((line) => line.startsWith(`${name}: no model, `)));
    }
    // deno-lint-ignore mongrove/literal-import -- the file has just been written
    const load = (name: string) => import(pathToFileURL(join(folder, name)).href);
    const { models } = await load("models.ts");
    assertEquals(models.length, COLLECTIONS.length);
    const { buildApp } = await load("app.ts");
    await using served = await start(buildApp("key"));
    const { read } = client(served, { authorization: "key" });
    for (const { path, operation } of Framework.describe({ models })) {
      if (operation === "all") assertEquals((await read<unknown[]>(path)).length, 1, path);
    }
    lines.length = 0;
    assertEquals(await createApp(folder, { from: database.uri, report, write: true }), []);
    assertEquals(lines, ["The database and the models have no differences"]);
    const files = await Array.fromAsync(Deno.readDir(join(folder, "models")));
    assertEquals(files.length, COLLECTIONS.length);
    await Deno.remove(folder, { recursive: true });
  });
}

longTest("new --from writes models that compile, whatever names clients have chosen", async () => {
  await using project = await makeProject();
  await using database = await openHostile();
  for (const plain of [false, true]) {
    await createApp(`${project.folder}/${plain}`, { from: database.uri, plain, runtime: "node" });
  }
  const config = `--config=${project.folder}/deno.json`;
  const checked = ["true", "false"].map((name) => `${name}/app.ts`);
  const options = { cwd: project.folder, env: {} };
  await runCommand(Deno.execPath(), ["check", "--quiet", "--no-lock", config, ...checked], options);
});

test("new --from reads a collection of which an entity has a malformed string", async () => {
  await using database = await openDatabase();
  const name = textOf(Buffer.from([0xff, 0x61]));
  const odd = bsonOf([[0x10, "_id", Buffer.alloc(4)], [0x02, "name", name]]);
  await insertRaw(database.uri, { collection: "hostile_texts", documents: [odd] });
  const lines: string[] = [];
  const folder = await Deno.makeTempDir({ prefix: "mongrove-from-" });
  await createApp(folder, { from: database.uri, report: (line) => void lines.push(line) });
  assertEquals(lines, ["hostile_texts: 1 entities read"]);
  await Deno.remove(folder, { recursive: true });
});
