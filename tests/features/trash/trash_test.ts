import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { Framework, getModel } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type Mounted } from "../../support/support.ts";
import { as, Book, KEEPER, serveBooks, storedBook } from "./books.ts";

interface BookBody extends Record<string, unknown> {
  readonly _id: string;
  readonly name: string;
}

/** The ways to put a book into the trash. */
const REMOVALS: [string, (app: Mounted, id: string) => Promise<{ readonly status: number }>][] = [
  ["remove", (app, id) => app.delete(`/books/${id}`, as("bob"))],
  ["remove with hooks", (app, id) => app.delete(`/hooked/${id}`, as("bob"))],
  ["removeAll", (app, id) => app.delete(`/books${asQuery({ _id: id })}`, as("bob"))],
  ["removeAll with hooks", (app, id) => app.delete(`/hooked${asQuery({ _id: id })}`, as("bob"))],
  ["remove of a part", async (app, id) => {
    const shelf = await app.created("/shelves", { name: "s", books: [id] });
    return await app.delete(`/shelves/${shelf._id}/books/${id}`, as("bob"));
  }],
  ["removeAll of parts", async (app, id) => {
    const shelf = await app.created("/shelves", { name: "s", books: [id] });
    return await app.delete(`/shelves/${shelf._id}/books`, as("bob"));
  }],
];

test("a removal puts the entity into the trash, by every way to remove", async (t) => {
  await using app = await serveBooks();
  for (const [index, [way, send]] of REMOVALS.entries()) {
    await t.step(way, async () => {
      const { _id } = await app.created("/books", { name: "a", code: `c${index}` }, as("ann"));
      assertEquals((await send(app, _id)).status, 204);
      const stored = await storedBook(_id);
      assertEquals(stored?.deletedAt instanceof Date, true);
      assertEquals([stored?.deletedBy, stored?.changedBy, stored?.__v], ["bob", "bob", 1]);
      assertEquals((await app.get(`/books/${_id}`)).status, 404);
      await send(app, _id).catch(() => {});
      assertEquals((await storedBook(_id))?.__v, 1);
    });
  }
});

test("whoever sees the trash reads, restores and empties it", async () => {
  await using app = await serveBooks();
  const made = await app.created<BookBody>("/books", { name: "a", code: "x" }, as("ann"));
  await app.created("/books", { name: "b", code: "y" }, as("ann"));
  const path = `/books/${made._id}`;
  await app.delete(path, as("bob"));
  const list = await app.get<BookBody[]>("/books?trash=only&sort=name", KEEPER);
  assertEquals(list.body.map(({ name, deletedBy }) => [name, deletedBy]), [["a", "bob"]]);
  assertEquals(list.headers.get("x-total-count"), "1");
  const { body, status } = await app.get<BookBody>(`${path}?trash=only`, KEEPER);
  assertEquals([status, typeof body.deletedAt], [200, "string"]);
  const restored = await app.post<BookBody>(`${path}/restore`, undefined, KEEPER);
  assertEquals([restored.status, restored.body.deletedAt, restored.body.__v], [200, undefined, 2]);
  const stored = await storedBook(made._id);
  assertEquals(["deletedAt" in (stored ?? {}), "deletedBy" in (stored ?? {})], [false, false]);
  assertEquals((await app.get(path)).status, 200);
  assertEquals((await app.post(`${path}/restore`, undefined, KEEPER)).status, 404);
  assertEquals((await app.get(`${path}?trash=only`, KEEPER)).status, 404);
  assertEquals((await app.delete(`${path}?trash=only`, KEEPER)).status, 404);
  await app.delete(path);
  assertEquals((await app.delete(`${path}?trash=only`, KEEPER)).status, 204);
  assertEquals(await storedBook(made._id), null);
  await app.delete("/books");
  assertEquals((await app.delete("/books?trash=only", KEEPER)).status, 204);
  assertEquals(await getModel(Book).collection.countDocuments(), 0);
});

test("for everybody else the trash is not there", async () => {
  await using app = await serveBooks();
  const { _id } = await app.created("/books", { name: "a", code: "x" });
  await app.delete(`/books/${_id}`);
  const path = `/books/${_id}`;
  const refused = [
    await app.get("/books?trash=only"),
    await app.get(`${path}?trash=only`),
    await app.delete(`${path}?trash=only`),
    await app.delete("/books?trash=only"),
    await app.patch(`${path}?trash=only`, {}, KEEPER),
    await app.post("/books?trash=only", { name: "b", code: "z" }, KEEPER),
    await app.get(`${path}/notes?trash=only`, KEEPER),
    await app.get("/books?trash=all", KEEPER),
    await app.get("/books?trash=only&trash=only", KEEPER),
    await app.get("/books?trash[]=only"),
    await app.delete("/books?trash[x]=only", KEEPER),
  ];
  assertEquals(refused.map(({ status }) => status), Array(11).fill(400));
  assertEquals((await app.post(`${path}/restore`)).status, 404);
  assertEquals((await app.post(`${path}/restore?trash=only`, {}, KEEPER)).status, 400);
});

test("a unique value in the trash is free, and a restore of it is a 409", async () => {
  await using app = await serveBooks();
  const { _id } = await app.created("/books", { name: "a", code: "x", isbn: "1" });
  await app.delete(`/books/${_id}`);
  const again = await app.put<BookBody>("/books/x", { name: "b", isbn: "1" });
  assertEquals([again.status, again.body._id === _id], [201, false]);
  const { status, body } = await app.post(`/books/${_id}/restore`, undefined, KEEPER);
  assertEquals([status, Object(body).code], [409, "CONFLICT"]);
  assertEquals((await app.post("/books", { name: "c", code: "x" })).status, 409);
  await app.delete(`/books/${again.body._id}`);
  assertEquals((await app.post(`/books/${_id}/restore`, undefined, KEEPER)).status, 200);
});

test("a parent keeps its references to the trash, and shows them again after a restore", async () => {
  await using app = await serveBooks();
  const book = await app.created<BookBody>("/books", { name: "a", code: "x" });
  const other = await app.created<BookBody>("/books", { name: "b", code: "y", sequel: book._id });
  const shelf = await app.created("/shelves", { name: "s", books: [book._id], best: book._id });
  const path = `/shelves/${shelf._id}`;
  assertEquals((await app.delete(`${path}/books/${book._id}`)).status, 204);
  const seen = async () => [
    (await app.get<BookBody[]>(`${path}/books`)).body.length,
    (await app.get(`${path}/best`)).status,
    (await app.get<{ books: unknown[] }[]>("/shelves?populate=books")).body[0]?.books.length,
    (await app.get<BookBody[]>("/books?populate=sequel&sort=-name")).body[0]?.sequel !== null,
    (await app.patch(`/books/${other._id}`, { sequel: book._id })).status,
  ];
  const gone = await seen();
  await app.post(`/books/${book._id}/restore`, undefined, KEEPER);
  assertEquals([gone, await seen()], [[0, 404, 0, false, 400], [1, 200, 1, true, 200]]);
});

test("queryFor() and actions do not reach the trash", async () => {
  await using app = await serveBooks({
    prepare(app) {
      app.use(express.json());
      app.get("/count", async (req, res) => {
        const { model, filter } = await Framework.queryFor(req, Book);
        res.json(await model.countDocuments(filter));
      });
    },
  });
  const { _id } = await app.created("/books", { name: "a", code: "x" });
  assertEquals((await app.get("/count")).body, 1);
  await app.delete(`/books/${_id}`);
  assertEquals((await app.get("/count")).body, 0);
  assertEquals((await app.post(`/books/${_id}/shout`, {})).status, 404);
});
