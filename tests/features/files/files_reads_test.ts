import { assertEquals, assertNotEquals } from "@std/assert";
import { once } from "node:events";
// @ts-types="express-types"
import express from "express";
import { chunksAtOnce } from "../../../src/features/files/file_store.ts";
import { test } from "../../harness/testing.ts";
import { openGet, readToEnd, sendGet } from "../../support/sockets.ts";
import { mount } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { Book, bytesOf, fileAt, outcome, serveBook } from "./shelf.ts";

const SIZE = 600_000;

/** Serves a book with a cover of three chunks. */
async function serveCover() {
  const served = await serveBook();
  const bytes = bytesOf(SIZE);
  await (await served.cover.put(bytes)).body?.cancel();
  return { ...served, bytes };
}

test("a range is a part of the file, across chunks", async () => {
  await using served = await serveCover();
  const ranges: [range: string, start: number, end: number][] = [
    ["bytes=0-0", 0, 1],
    ["bytes=0-261119", 0, 261_120],
    ["bytes=261119-261121", 261_119, 261_122],
    ["bytes=261120-", 261_120, SIZE],
    ["bytes=-1", SIZE - 1, SIZE],
    ["bytes=-600001", 0, SIZE],
    ["bytes=5-99999999999999999999", 5, SIZE],
    ["BYTES=100-199", 100, 200],
  ];
  for (const [range, start, end] of ranges) {
    const answer = await served.cover.get({ range });
    const told = [answer.status, answer.headers.get("content-range")];
    assertEquals(told, [206, `bytes ${start}-${end - 1}/${SIZE}`], range);
    assertEquals(answer.headers.get("content-length"), String(end - start), range);
    assertEquals(new Uint8Array(await answer.arrayBuffer()), served.bytes.slice(start, end), range);
  }
});

test("a range without bytes is a 416, and any other one gets the whole file", async () => {
  await using served = await serveCover();
  const { get, head } = served.cover;
  for (const range of ["bytes=600000-", "bytes=-0", "bytes=99999999999999999999-"]) {
    const answer = await get({ range });
    const told = [answer.status, answer.headers.get("content-range"), (await answer.json()).code];
    assertEquals(told, [416, `bytes */${SIZE}`, "RANGE_NOT_SATISFIABLE"]);
  }
  const many = `bytes=${Array.from({ length: 500 }, (_, at) => `${at}-${at + 9}`).join()}`;
  for (const range of [many, "bytes=0-1,0-1", "bytes=5-2", "bytes=a-b", "bytes=-", "lines=0-1"]) {
    const answer = await get({ range });
    assertEquals([answer.status, (await answer.arrayBuffer()).byteLength], [200, SIZE], range);
  }
  const whole = await head({ range: "bytes=0-0" });
  assertEquals([whole.status, whole.headers.get("content-length")], [200, String(SIZE)]);
});

test("an empty file has no range", async () => {
  await using served = await serveBook();
  const { cover } = served;
  const stored = await cover.put(new Uint8Array(0));
  assertEquals([stored.status, (await stored.json()).size], [201, 0]);
  const read = await cover.get();
  assertEquals([read.status, await read.text(), read.headers.get("content-length")], [
    200,
    "",
    "0",
  ]);
  for (const range of ["bytes=0-", "bytes=-1", "bytes=0-0"]) {
    const answer = await cover.get({ range });
    const told = [answer.headers.get("content-range"), answer.headers.get("etag")];
    assertEquals(told, ["bytes */0", read.headers.get("etag")]);
    assertEquals(await outcome(answer), [416, "RANGE_NOT_SATISFIABLE"]);
  }
});

/** Serves a book with a cover, and changes the book after a read of the cover. Returns the tag of this read. */
async function serveChanged() {
  const served = await serveBook();
  await (await served.cover.put("one")).body?.cancel();
  const first = await served.cover.get();
  assertEquals(await first.text(), "one");
  await served.app.updated(served.path, { name: "b" });
  return { ...served, tag: String(first.headers.get("etag")) };
}

test("a client that has the file gets a 304, although its entity has changed", async () => {
  await using served = await serveChanged();
  const { cover: { get, put }, tag } = served;
  const known = await get({ "if-none-match": `"x", ${tag}` });
  const told = [known.status, await known.text(), known.headers.get("content-length")];
  assertEquals(told, [304, "", null]);
  assertNotEquals(known.headers.get("etag"), tag);
  assertEquals((await get({ "if-none-match": "*" })).status, 304);
  assertEquals((await get({ "if-none-match": `W/${tag}` })).status, 304);
  const part = await get({ range: "bytes=1-", "if-range": tag });
  assertEquals([part.status, await part.text()], [206, "ne"]);
  for (const other of ['"1.0000000000000000"', `W/${tag}`, new Date().toUTCString(), "", "x"]) {
    const whole = await get({ range: "bytes=1-", "if-range": other });
    assertEquals([whole.status, await whole.text()], [200, "one"], other);
  }
  await (await put("two")).body?.cancel();
  const changed = await get({ "if-none-match": tag });
  assertEquals([changed.status, await changed.text()], [200, "two"]);
});

test("If-Match of a write compares the version of the entity", async () => {
  await using served = await serveChanged();
  const { app, path, cover: { get, put, remove }, tag } = served;
  assertEquals(await outcome(put("two", { "if-match": tag })), [412, "PRECONDITION_FAILED"]);
  const { headers } = await get();
  assertEquals(await outcome(put("two", { "if-match": String(headers.get("etag")) })), [200]);
  assertEquals(await outcome(remove({ "if-match": tag })), [412, "PRECONDITION_FAILED"]);
  const entity = await app.get(path);
  assertEquals(await outcome(remove({ "if-match": String(entity.headers.get("etag")) })), [204]);
});

test("browsers show only types that run nothing, and only where the field says so", async () => {
  await using served = await serveBook();
  const cases: [field: "cover" | "picture", type: string, kind: string, sent?: string][] = [
    ["picture", "image/png", "inline"],
    ["picture", "text/plain;charset=utf-8", "inline", "text/plain"],
    ["picture", "image/svg+xml", "attachment"],
    ["cover", "image/png", "attachment"],
    ["cover", "text/html", "attachment"],
    ["cover", "text/javascript", "attachment", "application/octet-stream"],
    ["cover", "application/x-javascript", "attachment", "application/octet-stream"],
    ["cover", "TEXT/ECMAScript", "attachment", "application/octet-stream"],
    ["cover", "text/css", "attachment", "application/octet-stream"],
  ];
  for (const [field, type, kind, sent = type] of cases) {
    const { put, get } = served[field];
    const stored = await put("<script>1</script>", { "content-type": type });
    assertEquals([stored.ok, type], [true, type]);
    await stored.body?.cancel();
    const answer = await get();
    await answer.body?.cancel();
    assertEquals([answer.headers.get("content-type"), answer.headers.get("content-disposition")], [
      sent,
      `${kind}; filename="${field}"`,
    ]);
    assertEquals(answer.headers.get("x-content-type-options"), "nosniff");
    assertEquals(answer.headers.get("content-security-policy"), "sandbox");
    assertEquals(answer.headers.get("cache-control"), "private, no-cache, no-transform");
  }
});

test("a middleware before the router sets the Cache-Control of files", async () => {
  const prepare = (app: express.Express) => {
    app.use(express.json(), (_req, res, next) => {
      res.setHeader("Cache-Control", "private, max-age=60");
      next();
    });
  };
  await using served = await serveBook({ prepare });
  await (await served.cover.put("a", { "content-type": "text/plain" })).body?.cancel();
  const answer = await served.cover.get();
  await answer.body?.cancel();
  assertEquals(answer.headers.get("cache-control"), "private, max-age=60");
});

test("filters, lists and select show the description, and no body sets it", async () => {
  await using app = await mount([Book]);
  const { _id } = await app.created("/books", { name: "a", cover: { name: "x", size: 1 } });
  await app.created("/books", { name: "b" });
  assertEquals((await app.get<{ cover?: unknown }>(`/books/${_id}`)).body.cover, undefined);
  const { put } = fileAt(`${app.url}/books/${_id}/cover`);
  await (await put("12345", { "content-type": "image/png" })).body?.cancel();
  const find = async (q: object) => {
    const { body } = await app.get<{ name: string }[]>(
      `/books?q=${encodeURIComponent(JSON.stringify(q))}`,
    );
    return Array.isArray(body) ? body.map(({ name }) => name) : body;
  };
  assertEquals(await find({ "cover.size": { $gt: 4 } }), ["a"]);
  assertEquals(await find({ "cover.type": "image/png", cover: { $exists: true } }), ["a"]);
  assertEquals((await app.get(`/books?q={"cover.file":{"$exists":true}}`)).status, 400);
  const list = (await app.get<{ cover?: object }[]>("/books")).body;
  assertEquals(Object.keys(list[0]?.cover ?? {}).sort(), ["at", "name", "sha256", "size", "type"]);
  for (const cover of [null, {}, { name: "y" }, { file: String(_id) }]) {
    await app.updated(`/books/${_id}`, { name: "c", cover });
    const { body } = await app.get<{ cover: { name: string; size: number } }>(`/books/${_id}`);
    assertEquals([body.cover.name, body.cover.size], ["cover", 5]);
  }
});

test("downloads whose clients leave before the first byte do not count as running", async () => {
  let left = 0;
  await using app = await mount([Book], {
    prepare: (app) =>
      app.use(express.json(), async (req, res, next) => {
        if (req.headers["x-leaves"] !== undefined) {
          await once(res, "close");
          left++;
        }
        next();
      }),
  });
  const { _id } = await app.created("/books", { name: "a" });
  const url = `${app.url}/books/${_id}/cover`;
  const cover = fileAt(url);
  assertEquals(await outcome(cover.put("one")), [201]);
  for (let at = 0; at < 10; at++) {
    (await openGet(url, { headers: "x-leaves: 1\r\n" })).close();
  }
  await until(() => left === 10);
  for (let at = 0; at < 10; at++) assertEquals(await outcome(cover.get()), [200]);
  await until(() => chunksAtOnce() === 8);
});

test("a file is not read before the earlier answers of its connection are sent", async () => {
  const gate = Promise.withResolvers<void>();
  let arrived = 0;
  await using app = await mount([Book], {
    prepare: (host) =>
      host.get("/slow", async (_req, res) => {
        await gate.promise;
        res.send("slow");
      }).use(express.json(), (_req, _res, next) => {
        arrived++;
        next();
      }),
  });
  const { _id } = await app.created("/books", { name: "a" });
  const path = `/books/${_id}/cover`;
  const cover = fileAt(`${app.url}${path}`);
  assertEquals(await outcome(cover.put("x".repeat(SIZE))), [201]);
  const socket = await openGet(`${app.url}/slow`);
  arrived = 0;
  await sendGet(socket, path, { count: 10 });
  await sendGet(socket, path, { headers: "Connection: close\r\n" });
  await until(() => arrived === 11);
  assertEquals(await outcome(cover.get()), [200]);
  await until(() => chunksAtOnce() === 8);
  gate.resolve();
  assertEquals((await readToEnd(socket)).match(/\r\n\r\nx{600000}/g)?.length, 11);
});
