import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { listCached, openCache, storeBinary } from "./mongod_cache.ts";

const whole = () => Promise.resolve("6.0.5");
const torn = () => Promise.reject(new Error("Exec format error"));

async function fetch(folder: string): Promise<string> {
  const path = join(folder, "unpacked");
  await Deno.writeTextFile(path, "binary");
  return path;
}

async function tempFolder() {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.map(({ name }) => name).sort();
}

Deno.test("openCache() takes XDG_CACHE_HOME, then HOME, then a temp folder", async () => {
  await using folder = await tempFolder();
  const home = folder.path;
  const open = (env: Record<string, string>) => openCache({ env: (name) => env[name] });
  assertEquals(
    await open({ XDG_CACHE_HOME: join(home, "x"), HOME: home }),
    join(home, "x", "mongrove"),
  );
  assertEquals(await open({ HOME: home }), join(home, ".cache", "mongrove"));
  assertMatch(await open({ HOME: join(Deno.execPath(), "no") }), /mongrove-/);
  assertMatch(await open({}), /mongrove-/);
});

Deno.test("storeBinary() keeps a binary that runs, and listCached() finds it", async () => {
  await using folder = await tempFolder();
  const home = folder.path;
  const env = (name: string) => name === "HOME" ? home : undefined;
  const cache = await openCache({ env });
  const options = { name: "mongod", fetch, readVersion: whole };
  const kept = await storeBinary(cache, options);
  assertEquals(await namesIn(cache), ["mongod"]);
  const listed = await listCached({ env });
  assertEquals(listed[0], kept);
});

Deno.test("storeBinary() keeps nothing of what does not run", async () => {
  await using folder = await tempFolder();
  const cache = folder.path;
  const options = { name: "mongod", fetch, readVersion: torn };
  await assertRejects(() => storeBinary(cache, options), Error, "Exec format");
  assertEquals(await namesIn(cache), []);
});

Deno.test("storeBinary() keeps nothing of a fetch that fails", async () => {
  await using folder = await tempFolder();
  const cache = folder.path;
  const options = { name: "mongod", fetch: torn, readVersion: whole };
  await assertRejects(() => storeBinary(cache, options), Error, "Exec format");
  assertEquals(await namesIn(cache), []);
});

Deno.test("storeBinary() removes old leftovers of fetches that were cut off", async () => {
  await using folder = await tempFolder();
  const cache = folder.path;
  const old = join(cache, "partial-old");
  await Deno.mkdir(old);
  await Deno.utime(old, 0, 0);
  await Deno.mkdir(join(cache, "partial-new"));
  await storeBinary(cache, { name: "mongod", fetch, readVersion: whole });
  assertEquals(await namesIn(cache), ["mongod", "partial-new"]);
});
