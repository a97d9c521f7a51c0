import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { createApp, type CreateAppOptions } from "../../src/new/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";

const AWAY = "mongodb://ann:secret@127.0.0.1:1/x?serverSelectionTimeoutMS=1";

/** Wrong options, and the end of the error message. */
const REFUSED: readonly (readonly [object, string | RegExp])[] = [
  [{ from: 5 }, '"from" is not the URI of a MongoDB'],
  [{ from: "" }, '"from" is not the URI of a MongoDB'],
  [{ from: "postgres://ann:secret@x/y" }, '"from" is not the URI of a MongoDB'],
  [{ from: AWAY, write: 1 }, '"write" is not a boolean'],
  [{ write: true }, '"write" needs "from"'],
  [{ from: AWAY, login: true }, '"login" and "from" exclude each other'],
  [{ from: AWAY, report: "x" }, '"report" is not a function'],
  [{ from: AWAY }, /no MongoDB at mongodb:\/\/127\.0\.0\.1:1\/x.* \(.+\)$/],
  [
    { from: `${AWAY}&tlsCertificateKeyFilePassword=secret&proxyPassword=secret` },
    /no MongoDB at mongodb:\/\/127\.0\.0\.1:1\/x.*FilePassword=…&proxyPassword=… \(.+\)$/,
  ],
  [{ from: "mongodb://ann:sec\nret@/" }, /no MongoDB at mongodb:\/\/\/ \(.+\)$/],
  [{ from: "mongodb://ann:secret@/" }, /no MongoDB at mongodb:\/\/\/ \(.+\)$/],
];

test("createApp() refuses wrong options of from, shows no password, and writes nothing", async () => {
  const folder = await Deno.makeTempDir();
  for (const [options, expected] of REFUSED) {
    const make = () => createApp(folder, options as CreateAppOptions);
    const { message } = await assertRejects(make, Error, "Cannot make an application: ");
    assertMatch(message, expected instanceof RegExp ? expected : RegExp(`: ${expected}$`));
    assertEquals(message.includes("secret"), false, message);
  }
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  await Deno.remove(folder);
});

test("createApp() refuses a database without entities", async () => {
  await using database = await openDatabase();
  const folder = await Deno.makeTempDir();
  await assertRejects(
    () => createApp(folder, { from: database.uri }),
    Error,
    `Cannot make an application: no collection of the database "${database.name}" has entities that a model can have`,
  );
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  await Deno.remove(folder);
});

test("createApp() takes no other models.json for a record, and shows no value of an error", async () => {
  await using database = await openDatabase();
  await database.connection.collection("command_dogs").insertOne({ name: "a" });
  const pipeline = [{ $project: { x: { $toInt: "$name" } } }];
  await database.connection.createCollection("command_view", {
    viewOn: "command_dogs",
    pipeline,
  });
  const folder = await Deno.makeTempDir();
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  for (const text of ["", "[]", "{}"]) {
    await Deno.writeTextFile(join(folder, "models.json"), text);
    await assertRejects(
      () => createApp(folder, { from: database.uri }),
      Error,
      "Cannot compare with a database: models.json is no record of new --from",
    );
  }
  await Deno.remove(join(folder, "models.json"));
  await createApp(folder, { from: database.uri, report });
  const broken = "command_view: no model, because it cannot be read (ConversionFailure)";
  assertEquals(lines, ["command_dogs: 1 entities read", broken]);
  await Deno.remove(folder, { recursive: true });
});

/** Runs the program in a folder. */
async function runNew(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const file = new URL("../../src/new/mod.ts", import.meta.url).href;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const all = ["run", "-A", "--no-check", "--no-lock", `--config=${config}`, file, ...args];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: all,
    env: { MONGODB_URI: "", ...env },
    cwd,
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

const WARNING = "Lists of processes show a URI: set MONGODB_URI instead\n";

test("new --from reads MONGODB_URI or a URI, of which it warns, and compares at a second run", async () => {
  await using database = await openDatabase();
  const cats = database.connection.collection("command_cats");
  await cats.insertOne({ name: "a" });
  const folder = await Deno.makeTempDir();
  const { uri } = database;
  const none = await runNew(folder, ["cats", "--from"]);
  const needs = "Cannot make an application: --from needs MONGODB_URI, or --from=mongodb://…\n";
  assertEquals(none, { code: 1, out: "", err: needs });
  const made = await runNew(folder, ["cats", "--from", "--plain"], { MONGODB_URI: uri });
  assertEquals([made.code, made.err], [0, ""]);
  assertMatch(
    made.out,
    /^command_cats: 1 entities read\nWrote models\/command_cat\.ts, .*Next:\n\n {2}cd cats && deno task test\n {2}API_KEY=secret deno task start\n$/s,
  );
  await cats.insertOne({ name: "b", age: 1 });
  const changed = { code: 0, out: "+ command_cats.age: Number\n", err: WARNING };
  assertEquals(await runNew(folder, ["cats", `--from=${uri}`]), changed);
  assertEquals(await runNew(folder, ["--from", uri, "cats"]), changed);
  const { out } = await runNew(join(folder, "cats"), ["--from", "--write"], { MONGODB_URI: uri });
  assertEquals(out, `${changed.out}Wrote models/command_cat.ts, models.json\n`);
  await Deno.remove(folder, { recursive: true });
});

test("new --from shows no password of an argument that it refuses", async () => {
  const folder = await Deno.makeTempDir();
  for (
    const args of [["mongodb://ann:secret@x/y", "--from"], ["--form=mongodb://ann:secret@x/y"]]
  ) {
    const { code, err } = await runNew(folder, args);
    assertMatch(
      err,
      /^Cannot make an application: "(--form=)?mongodb:\/\/x\/y" is neither a folder/,
    );
    assertEquals(code, 1);
  }
  await Deno.remove(folder);
});
