import { assertEquals, assertMatch } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { requestRaw } from "../../harness/request_raw.ts";
import { test } from "../../harness/testing.ts";
import { mount, NOBODY } from "../../support/support.ts";
import { Book, bytesOf, fileAt, outcome, serveBook, storedCounts } from "./shelf.ts";
import { onlyStrict } from "../../support/only_strict.ts";

const NOTHING = { files: 0, chunks: 0 };

test("a file that is too large is refused, and leaves nothing", async () => {
  await using served = await serveBook();
  const { app, path, cover } = served;
  assertEquals(await outcome(cover.put(bytesOf(1_000_001))), [413, "PAYLOAD_TOO_LARGE"]);
  assertEquals(await outcome(cover.put(bytesOf(1_000_000))), [201]);
  assertEquals(await outcome(cover.remove()), [204]);
  // A client that waits for the answer before it sends the body gets it at once.
  const early = await requestRaw(
    app.url,
    `PUT ${path}/cover HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000001\r\n\r\n`,
  );
  assertEquals([early.status, JSON.parse(early.body).limit], [413, 1_000_000]);
  const piece = "x".repeat(0x8000);
  const chunked = `PUT ${path}/cover HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
    "Transfer-Encoding: chunked\r\n\r\n" + `8000\r\n${piece}\r\n`.repeat(40);
  const late = await requestRaw(app.url, chunked);
  assertEquals(late.status, 413);
  assertEquals(await storedCounts(), NOTHING);
});

test("types, encodings and forms are checked before anything is read", async () => {
  await using served = await serveBook();
  const { app, picture: { put } } = served;
  const unsupported = [415, "UNSUPPORTED_MEDIA_TYPE"] as const;
  for (const type of ["text/html", "application/pdf", "image", "image/png, text/html", "x/y/z"]) {
    assertEquals(await outcome(put("x", { "content-type": type })), [...unsupported], type);
  }
  assertEquals(await outcome(put(new Uint8Array(1))), [...unsupported]);
  for (const encoding of ["gzip", "br", "GZIP", "identity, gzip"]) {
    const headers = { "content-type": "image/png", "content-encoding": encoding };
    assertEquals(await outcome(put("x", headers)), [...unsupported], encoding);
  }
  const part = put("x", { "content-type": "image/png", "content-range": "bytes 0-0/2" });
  assertEquals(await outcome(part), [400, "BAD_FORMAT"]);
  const elsewhere = fileAt(`${app.url}/books/${NOBODY}/picture`);
  assertEquals(await outcome(elsewhere.put("x", { "content-type": "text/html" })), [
    ...unsupported,
  ]);
  assertEquals(await storedCounts(), NOTHING);
});

test("an entity that the caller cannot see is as one that does not exist", async () => {
  await using app = await mount([Book]);
  const { _id } = await app.created("/books", { name: "a", shelf: "one" });
  await (await fileAt(`${app.url}/books/${_id}/cover`).put("x")).body?.cancel();
  const told = async (id: string) => {
    const { get, put, remove, head } = fileAt(`${app.url}/books/${id}/cover`, {
      "x-shelf": "two",
    });
    const answers = await Promise.all([get(), put("y"), remove(), head()]);
    return await Promise.all(
      answers.map(async (each) => [
        each.status,
        await each.text(),
        [...each.headers].filter(([name]) => name !== "date"),
      ]),
    );
  };
  assertEquals(await told(_id), await told(NOBODY));
  assertEquals((await told(_id)).map(([status]) => status), [404, 404, 404, 404]);
  assertEquals(await (await fileAt(`${app.url}/books/${_id}/cover`).get()).text(), "x");
  assertEquals((await storedCounts()).files, 1);
});

test("roles that cannot set the field get 403, and roles that cannot see it 404", async () => {
  await using app = await mount([Book]);
  const { _id } = await app.created("/books", { name: "a" });
  const url = `${app.url}/books/${_id}/cover`;
  await (await fileAt(url).put("x")).body?.cancel();
  const reader = fileAt(url, { "x-role": "reader" });
  assertEquals(await (await reader.get()).text(), "x");
  assertEquals(await outcome(reader.put("y")), [403, "FORBIDDEN"]);
  assertEquals(await outcome(reader.remove()), [403, "FORBIDDEN"]);
  const stranger = fileAt(url, { "x-role": "stranger" });
  for (const answer of [stranger.get(), stranger.put("y"), stranger.remove()]) {
    assertEquals(await outcome(answer), [404, "NOT_FOUND"]);
  }
  const seen = await app.get<object>(`/books/${_id}`, { headers: { "x-role": "stranger" } });
  assertEquals("cover" in seen.body, false);
  assertEquals(await (await fileAt(url).get()).text(), "x");
});

test("If-Match and If-None-Match bind the write of a file", async () => {
  await using app = await mount([Book]);
  const { _id } = await app.created("/books", { name: "a" });
  const picture = fileAt(`${app.url}/books/${_id}/picture`, { "content-type": "image/png" });
  assertEquals(await outcome(picture.put("x")), [428, "PRECONDITION_REQUIRED"]);
  assertEquals(await outcome(picture.put("x", { "if-match": '"7"' })), [
    412,
    "PRECONDITION_FAILED",
  ]);
  const { headers } = await app.get(`/books/${_id}`);
  const tag = String(headers.get("etag"));
  assertEquals(await outcome(picture.put("x", { "if-match": tag })), [201]);
  assertEquals(await outcome(picture.put("y", { "if-match": tag })), [412, "PRECONDITION_FAILED"]);
  const cover = fileAt(`${app.url}/books/${_id}/cover`);
  const only = { "if-none-match": "*" };
  const racing = await Promise.all(["1", "2", "3"].map((text) => outcome(cover.put(text, only))));
  assertEquals(racing.map(([status]) => status).sort(), [201, 412, 412]);
  assertEquals(await outcome(cover.put("y", only)), [412, "PRECONDITION_FAILED"]);
  assertEquals(await storedCounts(), { files: 2, chunks: 2 });
});

test("a body that a parser has read is a 500 with a hint in the log", async () => {
  const errors: unknown[] = [];
  await using app = await mount([Book], {
    prepare: (app) => app.use(express.json(), express.raw({ type: "image/*" })),
    onError: (_req, error) => void errors.push(error),
  });
  const { _id } = await app.created("/books", { name: "a" });
  const { put } = fileAt(`${app.url}/books/${_id}/cover`);
  assertEquals(await outcome(put("x", { "content-type": "image/png" })), [500, "INTERNAL"]);
  assertEquals(await outcome(put("x", { "content-type": "text/x" })), [201]);
  assertEquals(errors.length, 1);
  for (const each of errors) assertMatch(String(each), /parser of the application has read them/);
});

test("a body that the usual parsers have read is a 415, and a form with it is not", async () => {
  await using app = await mount([Book], {
    prepare: (app) => app.use(express.json(), express.urlencoded()),
  });
  const { _id } = await app.created("/books", { name: "a" });
  const { put } = fileAt(`${app.url}/books/${_id}/cover`);
  const refused = ["{}", '{"a":1}', "[1]"].map((text) => [text, "application/json"] as const);
  for (const [text, type] of [...refused, ["a=1", "application/x-www-form-urlencoded"]] as const) {
    const answer = put(text, { "content-type": `${type}; charset=utf-8` });
    assertEquals(await outcome(answer), [415, "UNSUPPORTED_MEDIA_TYPE"], text);
  }
  const form = new FormData();
  form.set("cover", new File(["{}"], "a.json", { type: "application/json" }));
  assertEquals(await outcome(put(form)), [201]);
});

test("unknown parameters and methods are refused as on other routes", async () => {
  await using app = await mount([Book], { strict: onlyStrict("parameters") });
  const { _id } = await app.created("/books", { name: "a" });
  const { put } = fileAt(`${app.url}/books/${_id}/cover?a=1`);
  assertEquals(await outcome(put("x")), [400, "BAD_FORMAT"]);
  const { remove } = fileAt(`${app.url}/books/${_id}/picture`);
  assertEquals((await remove()).status, 404);
});
