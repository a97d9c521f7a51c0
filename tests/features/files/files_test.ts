import { assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  replace,
  rest,
  StoredFile,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { bytesOf, fileAt, outcome, serveBook, sha256Of, storedCounts } from "./shelf.ts";

const PNG = {
  "content-type": "image/png",
  "content-disposition": 'attachment; filename="cover of a.png"',
};

test("an upload answers with the description of the file, as its entity shows it", async () => {
  await using served = await serveBook();
  const { app, path, cover } = served;
  assertEquals(await outcome(cover.get()), [404, "NOT_FOUND"]);
  const bytes = bytesOf(600_000);
  const stored = await cover.put(bytes, PNG);
  const { at, ...others } = await stored.json();
  assertEquals([stored.status, stored.headers.get("location")], [201, `${path}/cover`]);
  assertEquals(others, {
    name: "cover of a.png",
    type: "image/png",
    size: 600_000,
    sha256: await sha256Of(bytes),
  });
  assertMatch(at, /^\d{4}-.*Z$/);
  assertEquals(await storedCounts(), { files: 1, chunks: 3 });
  const read = await app.get<{ cover?: object }>(path);
  assertEquals(read.body.cover, { ...others, at });
  const [version] = String(stored.headers.get("etag")).split(".");
  assertEquals(read.headers.get("etag")?.split(".")[0], version);
});

test("the tag of an upload is the tag of the stored file", async () => {
  await using served = await serveBook();
  const { app, path, cover } = served;
  const { _id } = await app.created(`${path}/attachments`, { title: "a" });
  const attached = fileAt(`${app.url}${path}/attachments/${_id}/file`);
  for (const file of [cover, attached]) {
    for (const headers of [PNG, {}, { prefer: "return=minimal" }]) {
      const stored = await file.put(bytesOf(10), headers);
      await stored.body?.cancel();
      const tag = String(stored.headers.get("etag"));
      const read = await file.get({ "if-none-match": tag });
      await read.body?.cancel();
      assertEquals([read.status, read.headers.get("etag")], [304, tag]);
    }
  }
});

class Scan extends FrameworkModel {
  @prop()
  title?: string;
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100 })
  file?: StoredFile;
}

@rest({ route: "/letters", methods: [one(), create()] })
class Letter extends FrameworkModel {
  static override schemaOptions = { versionKey: false } as const;
  @rest({ methods: [one(), create(), update()] })
  @arrayProp({ items: Scan, embedded: true })
  scans?: Scan[];
}

test("tags below an entity without versions have none", async () => {
  await using app = await mount([Letter]);
  const scans = `/letters/${(await app.created("/letters", {}))._id}/scans`;
  const created = await app.post(scans, { title: "a" });
  const path = `${scans}/${created.body._id}`;
  const updated = await app.patch(path, { title: "b" });
  const file = fileAt(`${app.url}${path}/file`);
  const replies = [created, updated, await app.get(path), await file.put("a"), await file.get()];
  const tags = replies.map(({ headers }) => String(headers.get("etag")));
  assertEquals(tags.map((tag) => tag.split(".")[0]), Array(5).fill('"none'));
  assertEquals([tags[1], tags[3]], [tags[2], tags[4]]);
  for (const reply of replies) if (reply instanceof Response) await reply.body?.cancel();
});

test("a file is sent as it was stored, with headers that protect its reader", async () => {
  await using served = await serveBook();
  const { cover } = served;
  const bytes = bytesOf(600_000);
  await (await cover.put(bytes, PNG)).body?.cancel();
  const read = await cover.get();
  assertEquals(new Uint8Array(await read.arrayBuffer()), bytes);
  const sent = Object.fromEntries(read.headers);
  const { date: _date, etag, vary: _vary, connection: _, "keep-alive": __, ...headers } = sent;
  assertMatch(String(etag), /^"1\.[\w-]{16}"$/);
  assertEquals(headers, {
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache, no-transform",
    "content-disposition": 'attachment; filename="cover of a.png"',
    "content-length": "600000",
    "content-security-policy": "sandbox",
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "x-powered-by": "Express",
  });
  const head = await cover.head();
  assertEquals([head.status, head.headers.get("content-length"), await head.text()], [
    200,
    "600000",
    "",
  ]);
});

test("a later file replaces the first one, and a removal leaves none", async () => {
  await using served = await serveBook();
  const { app, path, cover } = served;
  assertEquals(await outcome(cover.put(bytesOf(600_000))), [201]);
  const again = await cover.put("text");
  assertEquals([again.status, (await again.json()).name], [200, "cover"]);
  assertEquals(await (await cover.get()).text(), "text");
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  const minimal = await cover.put("more", { prefer: "return=minimal" });
  assertEquals([minimal.status, await minimal.text()], [204, ""]);
  assertEquals(await outcome(cover.remove()), [204]);
  assertEquals((await app.read(path)).cover, undefined);
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
  assertEquals(await outcome(cover.remove()), [404, "NOT_FOUND"]);
});

test("a stored description that lacks a part is a 404, and can be replaced", async () => {
  await using served = await serveBook();
  const { cover } = served;
  const books = mongoose.connection.collection("books");
  await cover.put("one", PNG);
  const whole: Record<string, unknown> = (await books.findOne({}))?.cover;
  for (const name of ["name", "type", "size", "sha256", "file"]) {
    await books.updateOne({}, { $set: { cover: { ...whole, [name]: null } } });
    assertEquals([name, ...await outcome(cover.get())], [name, 404, "NOT_FOUND"]);
    assertEquals([name, (await cover.head()).status], [name, 404]);
  }
  assertEquals(await outcome(cover.remove()), [404, "NOT_FOUND"]);
  assertEquals(await outcome(cover.put("two")), [201]);
  assertEquals(await (await cover.get()).text(), "two");
});

test("a field with a value that an earlier version has stored takes a file", async () => {
  await using served = await serveBook();
  const { cover } = served;
  for (const value of ["http://a/b.png", 5, [], {}, null]) {
    await mongoose.connection.collection("books").updateOne({}, { $set: { cover: value } });
    assertEquals(await outcome(cover.put("one", { "if-none-match": "*" })), [201]);
    assertEquals(await (await cover.get()).text(), "one");
    assertEquals(await outcome(cover.remove()), [204]);
  }
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});
