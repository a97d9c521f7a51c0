import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { setTimeout as pause } from "node:timers/promises";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type Ref,
  remove,
  rest,
} from "../../../mod.ts";
import { FileStore } from "../../../src/features/files/file_store.ts";
import { longTest, test } from "../../harness/testing.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { mount } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { Book, fileAt, outcome, putSlowly, serveBook, storedCounts, tidy } from "./shelf.ts";

const NOTHING = { files: 0, chunks: 0 };
const ONE = { files: 1, chunks: 1 };

/** Whether a command reads or writes the records of files. */
const isOfFiles = (command: Record<string, unknown>) =>
  Object.values(command).includes("mongrove_files.files");

test("the removal of an entity removes its files and no others", async () => {
  await using app = await mount([Book]);
  const put = async (name: string) => {
    const { _id } = await app.created("/books", { name });
    assertEquals(await outcome(fileAt(`${app.url}/books/${_id}/cover`).put(name)), [201]);
    return _id;
  };
  const [first, second] = [await put("1"), await put("2"), await put("3"), await put("4")];
  assertEquals((await app.delete(`/books/${first}`)).status, 204);
  assertEquals(await storedCounts(), { files: 3, chunks: 3 });
  assertEquals((await app.delete(`/books?q={"name":{"$in":["3","4"]}}`)).status, 204);
  assertEquals(await storedCounts(), ONE);
  assertEquals(await (await fileAt(`${app.url}/books/${second}/cover`).get()).text(), "2");
  assertEquals(await tidy(48), { removed: {} });
  assertEquals(await storedCounts(), ONE);
});

test("a removal of many entities that removes none looks for no files", async () => {
  await using served = await serveBook();
  const { app, path, cover } = served;
  assertEquals(await outcome(cover.put("x")), [201]);
  const sent = await watchCommands(app.database.uri);
  assertEquals((await app.delete(`/books?q={"name":"other"}`)).status, 204);
  assertEquals((await app.delete(`${path}/attachments`)).status, 204);
  assertEquals(sent.filter(({ command }) => isOfFiles(command)), []);
  assertEquals((await app.delete(`/books?q={"name":"a"}`)).status, 204);
  assertEquals(await storedCounts(), NOTHING);
});

test("a removal of many entities is answered within its time, however long files are looked for", async () => {
  await using app = await mount([Book], { limits: { timeMS: 200 } });
  let end = () => {};
  const searching = new Promise<void>((resolve) => end = resolve);
  using suspect = stub(FileStore.prototype, "suspect", () => searching);
  using _ = stub(console, "error");
  const removal = async (name: string) => {
    await app.created("/books", { name });
    return (await app.delete(`/books?q={"name":"${name}"}`)).status;
  };
  try {
    const late = pause(5000).then(() => "late");
    assertEquals(await Promise.race([late, removal("a")]), 204);
    // This removal waits for the search of the one before.
    assertEquals(await Promise.race([late, removal("b")]), 204);
    assertEquals(suspect.calls.length, 1);
  } finally {
    end();
  }
  await until(() => suspect.calls.length === 2);
});

@rest({ route: "/folders", methods: [create(), remove()] })
class Folder extends FrameworkModel {
  @arrayProp({ items: () => Folder, embedded: true })
  folders!: Folder[];
  @arrayProp({ items: Book })
  books!: Ref<Book>[];
}

test("a class that only refers to entities with files has no files", async () => {
  await using app = await mount([Folder, Book]);
  const { _id } = await app.created("/folders", {});
  const sent = await watchCommands(app.database.uri);
  assertEquals((await app.delete(`/folders/${_id}`)).status, 204);
  assertEquals(sent.filter(({ command }) => isOfFiles(command)), []);
});

test("removals of many entities at once look for files one after the other", async () => {
  await using app = await mount([Book]);
  const names = Array.from({ length: 12 }, (_, at) => `${at}`);
  for (const name of names) {
    const { _id } = await app.created("/books", { name });
    assertEquals(await outcome(fileAt(`${app.url}/books/${_id}/cover`).put(name)), [201]);
  }
  await watchCommands(app.database.uri);
  const client = mongoose.connection.getClient();
  const searches = { running: 0, atOnce: 0, count: 0 };
  const ids = new Set<number>();
  client.on("commandStarted", ({ commandName, command, requestId }) => {
    if (commandName !== "aggregate" || !isOfFiles(command)) return;
    ids.add(requestId);
    searches.count++;
    searches.atOnce = Math.max(searches.atOnce, ++searches.running);
  });
  client.on("commandSucceeded", ({ requestId }) => void (ids.has(requestId) && searches.running--));
  await Promise.all(names.map(async (name) => {
    assertEquals((await app.delete(`/books?q={"name":"${name}"}`)).status, 204);
  }));
  assertEquals([searches.atOnce, searches.count < names.length], [1, true]);
  assertEquals(await storedCounts(), NOTHING);
});

test("housekeeping removes within a day what the application has dropped by itself", async () => {
  await using app = await mount([Book]);
  const ids: mongoose.Types.ObjectId[] = [];
  for (const name of ["gone", "cleared", "kept", "renamed"]) {
    const { _id } = await app.created("/books", { name });
    ids.push(new mongoose.Types.ObjectId(_id));
    assertEquals(await outcome(fileAt(`${app.url}/books/${_id}/cover`).put(name)), [201]);
  }
  const books = mongoose.connection.collection("books");
  await books.deleteOne({ _id: ids[0] as never });
  await books.updateOne({ _id: ids[1] as never }, { $unset: { cover: 1 } });
  await books.updateOne({ _id: ids[3] as never }, { $rename: { cover: "front" } });
  assertEquals(await Framework.tidy(), { removed: {} });
  assertEquals(await tidy(24), { removed: { Book: 2 } });
  assertEquals(await storedCounts(), { files: 2, chunks: 2 });
  assertEquals(await (await fileAt(`${app.url}/books/${ids[2]}/cover`).get()).text(), "kept");
  await books.deleteMany({});
  assertEquals(await Framework.tidy(), { removed: {} });
  assertEquals(await tidy(48), { removed: { Book: 2 } });
  assertEquals(await storedCounts(), NOTHING);
});

longTest("files that stay do not keep housekeeping from files that go", async () => {
  await using served = await serveBook();
  const { app, path } = served;
  const parts: string[] = [];
  for (let at = 0; at < 120; at++) {
    const { _id } = await app.created(`${path}/attachments`, { title: `${at}` });
    parts.push(_id);
    const { put } = fileAt(`${app.url}${path}/attachments/${_id}/file`);
    assertEquals(await outcome(put("x")), [201]);
  }
  await mongoose.connection.collection("books").updateOne({}, {
    $unset: { "attachments.110.file": 1 },
  });
  assertEquals(await tidy(24), { removed: { Book: 1 } });
  assertEquals(await storedCounts(), { files: 119, chunks: 119 });
  assertEquals(await tidy(30), { removed: {} });
  const last = fileAt(`${app.url}${path}/attachments/${parts.at(-1)}/file`);
  assertEquals(await (await last.get()).text(), "x");
});

test("two uploads at once store one of them as a whole", async () => {
  await using served = await serveBook();
  const { app, path, cover: { put, get } } = served;
  for (let round = 0; round < 5; round++) {
    const texts = Array.from({ length: 6 }, (_, at) => `${round}${at}`.repeat(50_000 + at));
    const answers = await Promise.all(
      texts.map((text, at) =>
        put(text, { "content-type": `text/x${at}`, "content-disposition": `a; filename=${at}` })
      ),
    );
    for (const each of answers) {
      assertEquals(each.ok, true);
      await each.body?.cancel();
    }
    const { cover } = (await app.get<{ cover: { name: string; type: string; size: number } }>(
      path,
    )).body;
    const at = Number(cover.name);
    assertEquals([cover.type, cover.size], [`text/x${at}`, texts[at]?.length]);
    assertEquals(await (await get()).text(), texts[at]);
    assertEquals((await storedCounts()).files, 1);
  }
});

test("an upload whose entity is removed meanwhile is a 404, and leaves nothing", async () => {
  await using app = await mount([Book]);
  for (let round = 0; round < 3; round++) {
    const { _id } = await app.created("/books", { name: "a" });
    const answer = putSlowly(
      fileAt(`${app.url}/books/${_id}/cover`),
      async () => assertEquals((await app.delete(`/books/${_id}`)).status, 204),
    );
    assertEquals(await outcome(answer), [404, "NOT_FOUND"]);
    assertEquals(await storedCounts(), NOTHING);
  }
});

test("an upload that breaks off leaves nothing", async () => {
  await using served = await serveBook();
  const { app, path, cover } = served;
  const { hostname, port } = new URL(app.url);
  for (const sent of [0, 1, 100_000, 600_000]) {
    const socket = await Deno.connect({ hostname, port: Number(port) });
    const head = `PUT ${path}/cover HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n`;
    let bytes = new TextEncoder().encode(head + "x".repeat(sent));
    while (bytes.length > 0) bytes = bytes.subarray(await socket.write(bytes));
    // The record is stored before the first byte.
    await until(async () => (await storedCounts()).files > 0);
    socket.close();
    await until(async () => (await storedCounts()).files === 0);
    assertEquals(await storedCounts(), NOTHING, `${sent} bytes`);
  }
  assertEquals(await outcome(cover.get()), [404, "NOT_FOUND"]);
});
