import { assert, assertEquals, assertMatch } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, getModel, one, rest } from "../../mod.ts";
import { client } from "../support/client.ts";
import { Book, Note, putBook } from "../fixtures/library.ts";
import { test } from "../harness/testing.ts";
import { idsOf, namesOf } from "../support/names.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "../support/support.ts";

/** The arrays that every chapter has. */
const EMPTY = { tags: [], notes: [], authors: [] };

/** Stores a book with chapters; gives a client for them, and their names as they are stored. */
async function putChapters(app: { readonly url: string }, ...chapters: object[]) {
  const { id, ids, stored, url } = await putBook(app, { chapters });
  const storedNames = async () => namesOf((await stored()).chapters).join("");
  return { id, ids, stored, storedNames, ...client(`${url}/chapters`) };
}

test("all() of embedded documents lists those of this parent, in their order", async () => {
  await using app = await mount([Book]);
  const { get, ids } = await putChapters(app, { name: "B" }, { name: "A", pages: 3 });
  const other = await putChapters(app, { name: "C" });
  const empty = await putChapters(app);
  const reply = await get();
  assertEquals(reply.status, 200);
  assertEquals(reply.body, [
    { _id: ids[0], name: "B", ...EMPTY },
    { _id: ids[1], name: "A", pages: 3, ...EMPTY },
  ]);
  assertEquals(namesOf((await other.get<EntityBody[]>()).body), ["C"]);
  assertEquals((await empty.get()).text, "[]");
});

test("all() of embedded documents is [] where the stored parent lacks the array", async () => {
  await using app = await mount([Book]);
  const { insertedId } = await getModel(Book).collection.insertOne({ name: "old" });
  const reply = await app.get(`/books/${insertedId}/chapters`);
  assertEquals([reply.status, reply.text], [200, "[]"]);
});

test("all() of embedded documents refuses a bad q with 400", async () => {
  await using app = await mount([Book]);
  const { get } = await putChapters(app, { name: "A" });
  // "year" and "chapters.name" are the parent's: q speaks of the chapter
  for (const q of [{ year: 1 }, { "chapters.name": "A" }, { $where: "1" }, { pages: "x" }]) {
    const reply = await get<ErrorBody>(asQuery(q));
    assertEquals([q, reply.status, reply.body.code], [q, 400, "BAD_FORMAT"]);
  }
});

test("every operation on embedded documents is 404 below a parent that is not there", async () => {
  await using app = await mount([Book]);
  const calls = [
    ["GET", ""],
    ["POST", ""],
    ["DELETE", ""],
    ["GET", `/${NOBODY}`],
    ["PATCH", `/${NOBODY}`],
    ["DELETE", `/${NOBODY}`],
  ] as const;
  for (const id of [NOBODY, "x"]) {
    for (const [method, path] of calls) {
      const body = method === "POST" || method === "PATCH" ? { body: { name: "A" } } : {};
      const reply = await app.send(method, `/books/${id}/chapters${path}`, body);
      assertEquals([method, path, id, reply.status], [method, path, id, 404]);
    }
  }
  assertEquals(await getModel(Book).countDocuments(), 0);
});

test("create() of an embedded document answers 201, its path, and adds it at the end", async () => {
  await using app = await mount([Book], { at: "/api" });
  const { id, ids, stored } = await putChapters(app, { name: "A" });
  const path = `/api/books/${id}/chapters`;
  const reply = await app.post(path, { name: "B", pages: 5, _id: NOBODY, foreign: 1 });
  assertEquals(reply.status, 201);
  assertMatch(reply.body._id, /^[0-9a-f]{24}$/);
  assert(reply.body._id !== NOBODY);
  const expected = { name: "B", pages: 5, ...EMPTY };
  assertEquals(reply.body as object, { _id: reply.body._id, ...expected });
  assertEquals(reply.headers.get("location"), `${path}/${reply.body._id}`);
  const { chapters, __v } = await stored();
  assertEquals(idsOf(chapters), [ids[0], reply.body._id]);
  assertEquals(chapters?.[1], { ...chapters?.[1], ...expected } as never);
  assertEquals([Object.keys(chapters?.[1] ?? {}).includes("__v"), __v], [false, 1]);
  assertEquals((await app.get(`${reply.headers.get("location")}`)).body, reply.body);
});

test("create() of an embedded document that is not valid answers 400 and adds nothing", async () => {
  await using app = await mount([Book]);
  const { post, stored } = await putChapters(app);
  const cases: [unknown, string[], string][] = [
    [{}, ["name"], "BAD_DATA"],
    [{ name: "A", pages: 0 }, ["pages"], "BAD_DATA"],
    [{ name: {}, pages: "x" }, ["name", "pages"], "BAD_DATA"],
    [[], [], "BAD_FORMAT"],
  ];
  for (const [body, fields, code] of cases) {
    const reply = await post<ErrorBody>("", body);
    const found = [reply.status, reply.body.code, Object.keys(reply.body.errors ?? {})];
    assertEquals(found, [400, code, fields]);
  }
  assertEquals([(await stored()).chapters, (await stored()).__v], [[], 0]);
});

test("update() of an embedded document with an empty body counts the version only", async () => {
  await using app = await mount([Book]);
  const { patch, ids, stored, storedNames } = await putChapters(app, { name: "A" });
  const reply = await patch(`/${ids[0]}`, {});
  assertEquals([reply.status, reply.body.name], [200, "A"]);
  assertEquals([await storedNames(), (await stored()).__v], ["A", 1]);
});

test("rest() of embedded documents mounts its own operations and no others", async () => {
  @rest({ route: "/boxes", methods: [one()] })
  class Box extends FrameworkModel {
    @rest({ methods: [all()], route: "/content" })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  await using app = await mount([Box]);
  const { _id } = await getModel(Box).create({ notes: [{ name: "A" }] } as never);
  const box = client(`${app.url}/boxes/${_id}`);
  assertEquals(namesOf((await box.get<EntityBody[]>("/content")).body), ["A"]);
  const calls = [["GET", "/notes"], ["POST", "/content"], ["DELETE", "/content"]] as const;
  for (const [method, path] of calls) {
    const { status, headers } = await box.send(method, path);
    const isJson = /json/.test(headers.get("content-type") ?? "");
    assertEquals([path, status, isJson], [path, 404, false]);
  }
});

test("rest() of a property is inherited, and may stand on it twice", async () => {
  abstract class Furniture extends FrameworkModel {
    @rest({ methods: [all()] })
    @rest({ methods: [create()], route: "/inbox" })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  @rest({ route: "/tables", methods: [one()] })
  class Table extends Furniture {}
  @rest({ route: "/desks", methods: [one()] })
  class Desk extends Furniture {}
  await using app = await mount([Table, Desk]);
  const table = await getModel(Table).create({});
  const desk = await getModel(Desk).create({});
  const { get, post } = client(`${app.url}/desks/${desk._id}`);
  assertEquals((await post("/inbox", { name: "A" })).status, 201);
  assertEquals((await post("/notes", { name: "A" })).status, 404);
  assertEquals(namesOf((await get<EntityBody[]>("/notes")).body), ["A"]);
  assertEquals((await app.get(`/tables/${table._id}/notes`)).text, "[]");
  assertEquals((await app.get(`/tables/${desk._id}/notes`)).status, 404);
});

test("embedded documents have no collection of their own", async () => {
  await using app = await mount([Book]);
  const { created } = await putChapters(app, { name: "A" });
  for (const name of ["B", "C"]) await created("", { name });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const collections = await app.database.connection.listCollections();
  assertEquals(collections.filter(({ name }) => /^chapter|^note|embedded/i.test(name)), []);
});
