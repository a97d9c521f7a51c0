import { assertEquals } from "@std/assert";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { Book, fileAt, outcome, storedCounts } from "./shelf.ts";

interface Attached {
  readonly _id: string;
  readonly title?: string;
  readonly file?: { readonly name: string; readonly size: number };
}

/** Serves a book with three attachments, each with a file. */
async function serveAttachments() {
  const app = await mount([Book]);
  const { _id } = await app.created("/books", { name: "a" });
  const path = `/books/${_id}`;
  const parts: string[] = [];
  for (const title of ["one", "two", "three"]) {
    const part = await app.created(`${path}/attachments`, { title, file: { name: "x" } });
    parts.push(part._id);
    const { put } = fileAt(`${app.url}${path}/attachments/${part._id}/file`);
    assertEquals(await outcome(put(title)), [201]);
  }
  const read = async () => (await app.get<{ attachments: Attached[] }>(path)).body.attachments;
  return {
    app,
    path,
    parts,
    read,
    file: (at: number) => fileAt(`${app.url}${path}/attachments/${parts[at]}/file`),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("each part of a list has a file of its own", async () => {
  await using served = await serveAttachments();
  const { read, file } = served;
  assertEquals(
    await Promise.all([0, 1, 2].map(async (at) => await (await file(at).get()).text())),
    [
      "one",
      "two",
      "three",
    ],
  );
  assertEquals((await read()).map((each) => [each.title, each.file?.size]), [
    ["one", 3],
    ["two", 3],
    ["three", 5],
  ]);
  assertEquals(await outcome(file(1).put("again")), [200]);
  assertEquals(await outcome(file(0).remove()), [204]);
  assertEquals((await read()).map((each) => each.file?.size), [undefined, 5, 5]);
  assertEquals(await storedCounts(), { files: 2, chunks: 2 });
});

test("an update of a list keeps the files of its parts, and drops those of removed parts", async () => {
  await using served = await serveAttachments();
  const { app, path, parts, read, file } = served;
  await app.updated(path, {
    attachments: [
      { _id: parts[2], title: "3" },
      { title: "new", file: { name: "x", size: 3 } },
      { _id: parts[0], file: null },
    ],
  });
  assertEquals((await read()).map((each) => [each.title, each.file?.size]), [
    ["3", 5],
    ["new", undefined],
    [undefined, 3],
  ]);
  assertEquals(await (await file(0).get()).text(), "one");
  assertEquals(await storedCounts(), { files: 2, chunks: 2 });
  await app.updated(`${path}/attachments/${parts[0]}`, { title: "1", file: null });
  assertEquals(await (await file(0).get()).text(), "one");
  assertEquals((await app.delete(`${path}/attachments/${parts[0]}`)).status, 204);
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  assertEquals((await app.delete(`${path}/attachments`)).status, 204);
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

test("a part that is not there has no file", async () => {
  await using served = await serveAttachments();
  const { app, path, parts } = served;
  const { body } = await app.get<{ _id: string }>(path);
  for (const place of [`attachments/${body._id}/file`, "attachments/x/file"]) {
    const { get, put, remove } = fileAt(`${app.url}${path}/${place}`);
    for (const answer of [get(), put("x"), remove()]) {
      assertEquals(await outcome(answer), [404, "NOT_FOUND"]);
    }
  }
  const other = await app.created("/books", { name: "b" });
  const { put } = fileAt(`${app.url}/books/${other._id}/attachments/${parts[0]}/file`);
  assertEquals(await outcome(put("x")), [404, "NOT_FOUND"]);
  assertEquals((await storedCounts()).files, 3);
});
