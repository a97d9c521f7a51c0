import { assertEquals, assertRejects } from "@std/assert";
import { ApiError, connect } from "@mongrove/mongrove/client";
import { create, FrameworkModel, one, prop, replace, rest, StoredFile } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { Book } from "../features/files/shelf.ts";
import { mount } from "../support/support.ts";

async function serveBooks() {
  const app = await mount([Book], { at: "/api" });
  const api = connect(`${app.url}/api`);
  const books = api.resource<Book>("/books");
  const { _id } = await books.create({ name: "a" });
  return { app, books, _id, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test("the client stores, reads and removes a file", async () => {
  await using served = await serveBooks();
  const { books, _id } = served;
  const cover = books.file("cover", _id);
  const stored = await cover.put(new File(["text"], "a b ü.txt", { type: "text/plain" }));
  const { name, type, size } = stored;
  assertEquals([name, type, size], ["a b ü.txt", "text/plain", 4]);
  const read = await books.one(_id);
  assertEquals(read.cover, stored);
  const answer = await cover.get({ headers: { range: "bytes=1-2" } });
  assertEquals([answer.status, await answer.text()], [206, "ex"]);
  const named = await cover.put(new Blob(["x"]), { name: "it's (1);.bin", ifMatch: stored });
  assertEquals([named.name, named.type], ["it's (1);.bin", "application/octet-stream"]);
  const stale = await assertRejects(() => cover.remove({ ifMatch: stored }), ApiError);
  assertEquals([stale.status, stale.code], [412, "PRECONDITION_FAILED"]);
  assertEquals(await cover.remove({ ifMatch: named }), undefined);
  const gone = await assertRejects(() => cover.get(), ApiError);
  assertEquals([gone.status, gone.code], [404, "NOT_FOUND"]);
});

test("the client reaches the files of parts", async () => {
  await using served = await serveBooks();
  const { books, _id } = served;
  const parts = books.part("attachments", _id);
  const part = await parts.create({ title: "t" });
  const file = parts.file("file", part._id);
  assertEquals((await file.put(new Blob(["x"]), { createOnly: true })).name, "file");
  const again = await assertRejects(
    () => file.put(new Blob(["y"]), { createOnly: true }),
    ApiError,
  );
  assertEquals(again.status, 412);
  assertEquals(await (await file.get()).text(), "x");
});

@rest({ route: "/tapes", methods: [one(), create()] })
class Tape extends FrameworkModel {
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 30_000_000 })
  reel?: StoredFile;
}

test("a signal ends a download whose headers have come, and its time limit does not", async () => {
  await using app = await mount([Tape]);
  const tapes = connect(app.url).resource<Tape>("/tapes");
  const { _id } = await tapes.create({});
  const reel = tapes.file("reel", _id);
  await reel.put(new Blob([new Uint8Array(30_000_000)]));
  const controller = new AbortController();
  const { signal } = controller;
  const ended = await reel.get({ signal });
  const other = await reel.get({ signal: AbortSignal.any([]), timeoutMS: 1000 });
  controller.abort(new RangeError("enough"));
  await assertRejects(() => ended.blob(), RangeError, "enough");
  await new Promise((resolve) => setTimeout(resolve, 1100));
  assertEquals((await other.blob()).size, 30_000_000);
  await assertRejects(() => reel.get({ signal }), RangeError, "enough");
});

test("the compiler knows which fields hold files, and that no body sets them", () => {
  const never = (_: () => unknown) => {};
  const { resource } = connect("http://localhost");
  const books = resource<Book>("/books");
  // @ts-expect-error a name of another field
  never(() => books.file("name", "1"));
  // @ts-expect-error a file is no part
  never(() => books.part("cover", "1"));
  // @ts-expect-error no body sets a file
  never(() => books.create({ name: "a", cover: { name: "x" } }));
  never(async () => (await books.one("1")).cover?.sha256.toUpperCase());
  // @ts-expect-error the identifier is hidden
  never(async () => (await books.one("1")).cover?.file);
  // @ts-expect-error the entity has no identifier of its own
  never(async () => (await books.one("1")).cover?._id);
});
