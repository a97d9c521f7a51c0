// Runs alone: it measures the memory of its isolate.
import process from "node:process";
import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
} from "../../mod.ts";
import { watchCommands } from "../support/both_paths.ts";
import { giving, takeGiven } from "../support/given.ts";
import { longTest, test } from "../harness/testing.ts";
import { memoryOf } from "../support/memory_of.ts";
import { openGet, readSome } from "../support/sockets.ts";
import { type EntityBody, mount } from "../support/support.ts";
import { idleCursors, openCursors, until } from "../support/until.ts";

@rest({ route: "/rows", methods: [all(), one()] })
class Row extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
  @prop()
  text?: string;
}

/** Stores rows of some 440 bytes each. */
async function seed(count: number, length = 380): Promise<void> {
  const text = "x".repeat(length);
  for (let start = 0; start < count; start += 10_000) {
    const size = Math.min(10_000, count - start);
    const rows = Array.from({ length: size }, (_, i) => ({ n: start + i, text, __v: 0 }));
    await getModel(Row).collection.insertMany(rows as never[]);
  }
}

const CLOSING = { headers: "Connection: close\r\n" };

/** Reads what comes until it ends, however it ends. */
async function readOn(socket: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(256 * 1024);
  const parts: string[] = [];
  try {
    for (;;) {
      const count = await socket.read(buffer);
      if (count === null) break;
      parts.push(decoder.decode(buffer.subarray(0, count), { stream: true }));
    }
  } catch {
    // A connection that is reset has an end, too.
  }
  return parts.join("");
}

longTest("all() streams 100,000 documents in order, in chunks, and holds few of them", async () => {
  await using app = await mount([Row]);
  await seed(100_000);
  let size = 0;
  let commas = 0;
  let tail = "";
  const more = await memoryOf(async () => {
    const answer = await fetch(`${app.url}/rows`);
    assertEquals(answer.headers.get("content-length"), null);
    for await (const chunk of answer.body ?? []) {
      size += chunk.length;
      const text = new TextDecoder("latin1").decode(chunk);
      commas += text.split('"n":').length - 1;
      tail = (tail + text).slice(-60);
    }
  });
  assert(tail.endsWith('"__v":0}]'), tail);
  assertGreater(size, 42_000_000);
  assertGreater(commas, 99_000);
  assertLess(more, 120_000_000);
});

test("all() answers every document of many batches once, in order", async () => {
  await using app = await mount([Row]);
  await seed(12_345, 20);
  const { status, headers, body } = await app.get<EntityBody[]>("/rows");
  assertEquals([status, headers.get("content-type")], [200, "application/json; charset=utf-8"]);
  assertEquals([headers.get("content-length"), headers.get("etag")], [null, null]);
  assertEquals(body.map(({ n }) => n), Array.from({ length: 12_345 }, (_, i) => i));
});

test("all() sends one batch whole, with its length and tag, and 304 to who has it", async () => {
  await using app = await mount([Row]);
  for (const count of [0, 1, 1024]) {
    await getModel(Row).collection.deleteMany({});
    await seed(count);
    const { headers, body, text } = await app.get<EntityBody[]>("/rows");
    assertEquals([body.length, headers.get("content-length")], [count, String(text.length)]);
    const tag = headers.get("etag") as string;
    assert(/^W\/"/.test(tag));
    const second = await app.get("/rows", { headers: { "if-none-match": tag } });
    assertEquals([second.status, second.text], [304, ""]);
    await getModel(Row).collection.insertOne({ n: -1 } as never);
    const third = await app.get("/rows", { headers: { "if-none-match": tag } });
    assertEquals(third.status, 200);
  }
});

test("one() sends its length and tag, and 304 to who has it", async () => {
  await using app = await mount([Row]);
  await seed(1);
  const path = `/rows/${(await getModel(Row).findOne())?._id}`;
  const { headers, text } = await app.get(path);
  assertEquals(headers.get("content-length"), String(text.length));
  assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
  const tag = headers.get("etag") as string;
  assertEquals((await app.get(path, { headers: { "if-none-match": tag } })).status, 304);
});

test("all() and one() answer HEAD with the headers alone", async () => {
  await using app = await mount([Row]);
  await seed(3);
  const whole = await app.get("/rows");
  const head = await app.send("HEAD", "/rows");
  const names = ["content-length", "content-type", "etag"];
  assertEquals([head.status, head.text], [200, ""]);
  for (const name of names) assertEquals(head.headers.get(name), whole.headers.get(name));
  await seed(5000);
  const many = await app.send("HEAD", "/rows");
  assertEquals([many.status, many.text], [200, ""]);
});

test("all() reads no more of a long list for HEAD than its headers need", async () => {
  await using app = await mount([Row]);
  await seed(10_000);
  const sent = await watchCommands(app.database.uri);
  const head = await app.send("HEAD", "/rows");
  const shown = ["content-type", "content-length"].map((name) => head.headers.get(name));
  assertEquals([head.status, ...shown], [200, "application/json; charset=utf-8", null]);
  const names = sent.map(({ name }) => name);
  assertEquals(names[0], "find");
  assertLess(names.filter((name) => name === "getMore").length, 3);
});

test("all() waits for a slow client, and leaves no listener behind", async () => {
  await using app = await mount([Row]);
  await seed(60_000);
  const warnings: unknown[] = [];
  const warn = (warning: unknown) => warnings.push(warning);
  process.on("warning", warn);
  const before = await openCursors();
  const socket = await openGet(`${app.url}/rows`, CLOSING);
  const more = await memoryOf(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  await until(async () => await openCursors() > before);
  assertLess(more, 35_000_000);
  const text = await readOn(socket);
  socket.close();
  process.off("warning", warn);
  assert(text.endsWith("0\r\n\r\n"), text.slice(-50));
  assertEquals([text.split('"n":').length > 59_000, warnings], [true, []]);
  await until(async () => await openCursors() <= before);
});

test("all() closes the cursor when the client leaves", async () => {
  await using app = await mount([Row]);
  await seed(60_000);
  const before = await openCursors();
  const sockets = await Promise.all(
    Array.from({ length: 5 }, () => openGet(`${app.url}/rows`, CLOSING)),
  );
  await until(async () => await openCursors() >= before + 5);
  for (const socket of sockets) {
    await socket.read(new Uint8Array(1000));
    socket.close();
  }
  await until(async () => await openCursors() <= before);
  assertEquals((await app.get("/rows/x")).status, 404);
});

test("all() closes the cursor when the client leaves before anything is sent", async () => {
  await using app = await mount([Row]);
  await seed(20_000);
  const before = await openCursors();
  for (let i = 0; i < 20; i++) (await openGet(`${app.url}/rows`, CLOSING)).close();
  await until(async () => await openCursors() <= before);
});

test("all() breaks the connection when the cursor dies on the way", async () => {
  const errors: unknown[] = [];
  await using app = await mount([Row], { onError: (_req, error) => void errors.push(error) });
  await seed(60_000);
  using _log = stub(console, "error");
  using socket = await openGet(`${app.url}/rows`, CLOSING);
  const begin = await readSome(socket);
  let cursor: unknown;
  await until(async () => {
    [cursor] = await idleCursors();
    return cursor !== undefined;
  });
  await mongoose.connection.db?.command({ killCursors: "rows", cursors: [cursor] });
  const text = begin + await readOn(socket);
  assert(text.startsWith("HTTP/1.1 200"));
  assertEquals([text.endsWith("0\r\n\r\n"), text.trimEnd().endsWith("]")], [false, false]);
  await until(() => errors.length === 1);
});

longTest(
  "all() answers 503 when the time runs out at the start, and breaks off when it does later",
  async () => {
    let first = 0;
    const preFetch = (req: FrameworkRequest) => {
      // The database compares before it sleeps
      req.framework.filter.$or = [{ n: { $lt: first } }, { $where: "sleep(20) || true" }];
      return true;
    };
    @rest({ route: "/late", methods: [all({ preFetch })], schemaOptions: { collection: "rows" } })
    class Late extends FrameworkModel {
      @prop({ type: Number })
      n?: number;
    }
    await using app = await mount([Late, Row], { limits: { timeMS: 2500 } });
    await seed(5000, 10);
    assertEquals((await app.get("/late")).status, 503);
    first = 4500;
    const socket = await openGet(`${app.url}/late`, CLOSING);
    const text = await readOn(socket);
    socket.close();
    assert(text.startsWith("HTTP/1.1 200"), text.slice(0, 200));
    assertEquals(text.includes("0\r\n\r\n"), false);
  },
);

test("all() keeps skip and limit over several batches", async () => {
  const methods = [all({ preFetch: takeGiven })];
  @rest({ route: "/page", methods, schemaOptions: { collection: "rows" } })
  class Page extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
  }
  await using app = await mount([Page, Row]);
  await seed(7000, 10);
  for (
    const [skip, limit] of [[0, 1], [0, 1024], [5, 1025], [100, 4000], [3000, 6000], [0, 9000]]
  ) {
    const options = { skip, limit, sort: { n: -1 } };
    const { body } = await app.get<EntityBody[]>("/page", giving({ options }));
    const count = Math.min(limit ?? 7000, 7000 - (skip ?? 0));
    assertEquals([body.length, body[0]?.n], [count, 6999 - (skip ?? 0)]);
  }
});

test("all() serves many readers at once, each its own list", async () => {
  await using app = await mount([Row]);
  await seed(9000, 10);
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => app.get<EntityBody[]>("/rows")),
  );
  for (const { body } of replies) {
    assertEquals([body.length, body.at(-1)?.n], [9000, 8999]);
  }
});

test("all() finds the next documents when a batch ends in the middle of large ones", async () => {
  await using app = await mount([Row]);
  await seed(40, 3_000_000);
  const { body } = await app.get<EntityBody[]>("/rows");
  assertEquals(body.map(({ n }) => n), Array.from({ length: 40 }, (_, i) => i));
});
