import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "./support.ts";

class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ type: Number, min: 1 })
  pages?: number;
  @prop()
  blurb?: string;
  @prop({ type: Date })
  printed?: Date;
  @arrayProp({ items: String })
  tags?: string[];
}

@rest({ route: "/shelves", methods: [all(), one(), create(), update()] })
class Shelf extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: [all(), one(), create(), update(), remove(), removeAll()] })
  @arrayProp({ items: Book, embedded: true })
  books?: Book[];
}

/** Stores a shelf with books, gives the shelf and the path of its books. */
async function putShelf(url: string, ...books: object[]) {
  const shelf = await getModel(Shelf).create({ name: "A", books } as never);
  return { shelf, at: `${url}/shelves/${shelf._id}/books`, ids: idsOf(shelf) };
}

function idsOf(shelf: { books?: Book[] }): string[] {
  return (shelf.books ?? []).map(({ _id }) => String(_id));
}

/** The shelf as it is stored, past Mongoose. */
async function stored(id: unknown): Promise<Shelf> {
  return await getModel(Shelf).collection.findOne({ _id: id as never }) as unknown as Shelf;
}

test("all() of embedded documents lists those of this parent, in their order", async () => {
  await using app = await mount([Shelf]);
  const { at, ids } = await putShelf(app.url, { title: "B" }, { title: "A", pages: 3 });
  const other = await putShelf(app.url, { title: "C" });
  const empty = await putShelf(app.url);
  const reply = await request<EntityBody[]>(at);
  assertEquals(reply.status, 200);
  assertEquals(reply.body, [
    { _id: ids[0], title: "B", tags: [] },
    { _id: ids[1], title: "A", pages: 3, tags: [] },
  ] as never);
  assertEquals((await request<EntityBody[]>(other.at)).body.map(({ title }) => title), ["C"]);
  assertEquals((await request(empty.at)).text, "[]");
});

test("all() of embedded documents is [] where the stored parent lacks the array", async () => {
  await using app = await mount([Shelf]);
  const { insertedId } = await getModel(Shelf).collection.insertOne({ name: "old" });
  const reply = await request(`${app.url}/shelves/${insertedId}/books`);
  assertEquals([reply.status, reply.text], [200, "[]"]);
});

test("all() of embedded documents filters by q, cast to the declared types", async () => {
  await using app = await mount([Shelf]);
  const { at } = await putShelf(
    app.url,
    { title: "A", pages: 1, tags: ["x"] },
    { title: "B", pages: 2, printed: new Date("2001-01-01") },
    { title: "C", pages: 3, tags: ["x", "y"] },
  );
  const titles = async (q: object) => {
    const reply = await request<EntityBody[]>(`${at}${asQuery(q)}`);
    return reply.body.map(({ title }) => title).join("");
  };
  assertEquals(await titles({ pages: { $gt: "1" } }), "BC");
  assertEquals(await titles({ printed: "2001-01-01" }), "B");
  assertEquals(await titles({ tags: "x", pages: { $ne: 1 } }), "C");
  assertEquals(await titles({ $or: [{ title: "A" }, { tags: { $size: 2 } }] }), "AC");
  assertEquals(await titles({ title: { $regex: "^b$", $options: "i" } }), "B");
  assertEquals(await titles({ title: "Z" }), "");
});

test("all() of embedded documents refuses a bad q with 400", async () => {
  await using app = await mount([Shelf]);
  const { at } = await putShelf(app.url, { title: "A" });
  // "name" and "books.title" are the parent's: q speaks of the book
  for (const q of [{ name: "A" }, { "books.title": "A" }, { $where: "1" }, { pages: "x" }]) {
    const reply = await request<ErrorBody>(`${at}${asQuery(q)}`);
    assertEquals([q, reply.status, reply.body.code], [q, 400, "BAD_FORMAT"]);
  }
});

test("one() of an embedded document answers it, or 404", async () => {
  await using app = await mount([Shelf]);
  const { at, ids } = await putShelf(app.url, { title: "A" }, { title: "B" });
  const other = await putShelf(app.url, { title: "C" });
  const reply = await request<EntityBody>(`${at}/${ids[1]}`);
  assertEquals([reply.status, reply.body.title], [200, "B"]);
  for (const id of [NOBODY, other.ids[0], "x"]) {
    const missed = await request<ErrorBody>(`${at}/${id}`);
    assertEquals([id, missed.status, missed.body.code], [id, 404, "NOT_FOUND"]);
  }
  assertEquals((await request(`${at}/${ids[0]}${asQuery({ title: "B" })}`)).status, 404);
});

test("every operation on embedded documents is 404 below a parent that is not there", async () => {
  await using app = await mount([Shelf]);
  for (const id of [NOBODY, "x"]) {
    for (
      const [method, path] of [
        ["GET", ""],
        ["POST", ""],
        ["DELETE", ""],
        ["GET", `/${NOBODY}`],
        ["PATCH", `/${NOBODY}`],
        ["DELETE", `/${NOBODY}`],
      ] as const
    ) {
      const body = method === "POST" || method === "PATCH" ? { body: { title: "A" } } : {};
      const reply = await request(`${app.url}/shelves/${id}/books${path}`, { method, ...body });
      assertEquals([method, path, id, reply.status], [method, path, id, 404]);
    }
  }
  assertEquals(await getModel(Shelf).countDocuments(), 0);
});

test("create() of an embedded document answers 201, its path, and adds it at the end", async () => {
  await using app = await mount([Shelf], { at: "/api" });
  const { shelf, ids } = await putShelf(app.url, { title: "A" });
  const path = `/api/shelves/${shelf._id}/books`;
  const body = { title: "B", pages: 5, _id: NOBODY, foreign: 1 };
  const reply = await request<EntityBody>(`${app.url}${path}`, { method: "POST", body });
  assertEquals(reply.status, 201);
  assertMatch(reply.body._id, /^[0-9a-f]{24}$/);
  assert(reply.body._id !== NOBODY);
  assertEquals(reply.body, { _id: reply.body._id, title: "B", pages: 5, tags: [] } as never);
  assertEquals(reply.headers.get("location"), `${path}/${reply.body._id}`);
  const { books, __v } = await stored(shelf._id);
  assertEquals(idsOf({ books: books ?? [] }), [ids[0], reply.body._id]);
  assertEquals(books?.[1], { ...books?.[1], title: "B", pages: 5, tags: [] } as never);
  assertEquals([Object.keys(books?.[1] ?? {}).includes("__v"), __v], [false, 1]);
  assertEquals((await request(`${app.url}${reply.headers.get("location")}`)).body, reply.body);
});

test("create() of an embedded document that is not valid answers 400 and adds nothing", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  const cases: [unknown, string[], string][] = [
    [{}, ["title"], "BAD_DATA"],
    [{ title: "A", pages: 0 }, ["pages"], "BAD_DATA"],
    [{ title: {}, pages: "x" }, ["title", "pages"], "BAD_DATA"],
    [[], [], "BAD_FORMAT"],
  ];
  for (const [body, fields, code] of cases) {
    const reply = await request<ErrorBody>(at, { method: "POST", body });
    const found = [reply.status, reply.body.code, Object.keys(reply.body.errors ?? {})];
    assertEquals(found, [400, code, fields]);
  }
  assertEquals([(await stored(shelf._id)).books, (await stored(shelf._id)).__v], [[], 0]);
});

test("update() of an embedded document merges, and touches nothing else", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(
    app.url,
    { title: "A", pages: 1 },
    { title: "B", pages: 2, blurb: "b", tags: ["x"] },
    { title: "C" },
  );
  const body = { title: "B2", blurb: null, tags: ["y", "z"], _id: NOBODY };
  const reply = await request<EntityBody>(`${at}/${ids[1]}`, { method: "PATCH", body });
  assertEquals(reply.status, 200);
  const expected = { _id: ids[1], title: "B2", pages: 2, tags: ["y", "z"] };
  assertEquals(reply.body, expected as never);
  const { books, __v } = await stored(shelf._id);
  assertEquals([idsOf({ books: books ?? [] }), __v], [ids, 1]);
  assertEquals({ ...books?.[1], _id: ids[1] } as unknown, expected);
  assertEquals([books?.[0]?.pages, books?.[2]?.title], [1, "C"]);
});

test("update() of an embedded document with an empty body counts the version only", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, { title: "A" });
  const reply = await request<EntityBody>(`${at}/${ids[0]}`, { method: "PATCH", body: {} });
  assertEquals([reply.status, reply.body.title], [200, "A"]);
  const { books, __v } = await stored(shelf._id);
  assertEquals([books?.[0]?.title, __v], ["A", 1]);
});

test("update() of an embedded document that is not valid answers 400 and writes nothing", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, { title: "A", pages: 1 });
  for (const [body, field] of [[{ title: null }, "title"], [{ pages: 0 }, "pages"]] as const) {
    const reply = await request<ErrorBody>(`${at}/${ids[0]}`, { method: "PATCH", body });
    const found = [reply.status, reply.body.code, Object.keys(reply.body.errors ?? {})];
    assertEquals(found, [400, "BAD_DATA", [field]]);
  }
  const { books, __v } = await stored(shelf._id);
  assertEquals([books?.[0]?.title, books?.[0]?.pages, __v], ["A", 1, 0]);
});

test("update() and remove() of an embedded document honour q, and 404 changes nothing", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, { title: "A", pages: 1 });
  const other = await putShelf(app.url, { title: "B" });
  const missed = [`${at}/${ids[0]}${asQuery({ pages: 2 })}`, `${at}/${other.ids[0]}`, `${at}/x`];
  for (const url of missed) {
    const patched = await request(url, { method: "PATCH", body: { title: "no" } });
    const removed = await request(url, { method: "DELETE" });
    assertEquals([url, patched.status, removed.status], [url, 404, 404]);
  }
  assertEquals((await stored(shelf._id)).books?.[0]?.title, "A");
  assertEquals((await stored(other.shelf._id)).books?.[0]?.title, "B");
  const hit = `${at}/${ids[0]}${asQuery({ pages: 1 })}`;
  assertEquals((await request(hit, { method: "PATCH", body: { title: "yes" } })).status, 200);
});

test("remove() of an embedded document answers 204 and takes it alone", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, { title: "A" }, { title: "B" }, {
    title: "C",
  });
  const reply = await request(`${at}/${ids[1]}`, { method: "DELETE" });
  assertEquals([reply.status, reply.text], [204, ""]);
  const { books, __v } = await stored(shelf._id);
  assertEquals([idsOf({ books: books ?? [] }), __v], [[ids[0], ids[2]], 1]);
  assertEquals((await request(`${at}/${ids[1]}`, { method: "DELETE" })).status, 404);
});

test("removeAll() of embedded documents takes what q selects, of this parent", async () => {
  await using app = await mount([Shelf]);
  const books = [{ title: "A", pages: 1 }, { title: "B", pages: 2 }, { title: "C", pages: 3 }];
  const { shelf, at } = await putShelf(app.url, ...books);
  const other = await putShelf(app.url, ...books);
  const titles = async () => (await stored(shelf._id)).books?.map(({ title }) => title).join("");
  const gone = await request(`${at}${asQuery({ pages: { $gte: 2 } })}`, { method: "DELETE" });
  assertEquals([gone.status, gone.text, await titles()], [204, "", "A"]);
  assertEquals((await request(`${at}${asQuery({ pages: 9 })}`, { method: "DELETE" })).status, 204);
  assertEquals(await titles(), "A");
  assertEquals((await request(at, { method: "DELETE" })).status, 204);
  assertEquals(await titles(), "");
  assertEquals((await stored(other.shelf._id)).books?.length, 3);
});

test("removeAll() of embedded documents with a bad q is 400 and takes nothing", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url, { title: "A" });
  const bad = ["?q={", "?q[title]=A", "?q={}&q={}", asQuery({ name: "A" }), asQuery([])];
  for (const query of bad) {
    const reply = await request<ErrorBody>(`${at}${query}`, { method: "DELETE" });
    assertEquals([query, reply.status, reply.body.code], [query, 400, "BAD_FORMAT"]);
  }
  assertEquals((await stored(shelf._id)).books?.length, 1);
});

test("rest() of embedded documents mounts its own operations and no others", async () => {
  @rest({ route: "/boxes", methods: [one()] })
  class Box extends FrameworkModel {
    @rest({ methods: [all()], route: "/content" })
    @arrayProp({ items: Book, embedded: true })
    books?: Book[];
  }
  await using app = await mount([Box]);
  const box = await getModel(Box).create({ books: [{ title: "A" }] } as never);
  const at = `${app.url}/boxes/${box._id}`;
  assertEquals((await request<EntityBody[]>(`${at}/content`)).body[0]?.title, "A");
  for (const [method, path] of [["GET", "/books"], ["POST", "/content"], ["DELETE", "/content"]]) {
    const reply = await request(`${at}${path}`, { method: method ?? "" });
    assertEquals([path, reply.status, /json/.test(reply.headers.get("content-type") ?? "")], [
      path,
      404,
      false,
    ]);
  }
});

test("rest() of a property is inherited, and may stand on it twice", async () => {
  abstract class Furniture extends FrameworkModel {
    @rest({ methods: [all()] })
    @rest({ methods: [create()], route: "/inbox" })
    @arrayProp({ items: Book, embedded: true })
    books?: Book[];
  }
  @rest({ route: "/tables", methods: [one()] })
  class Table extends Furniture {}
  @rest({ route: "/desks", methods: [one()] })
  class Desk extends Furniture {}
  await using app = await mount([Table, Desk]);
  const table = await getModel(Table).create({});
  const desk = await getModel(Desk).create({});
  const at = `${app.url}/desks/${desk._id}`;
  const body = { title: "A" };
  assertEquals((await request(`${at}/inbox`, { method: "POST", body })).status, 201);
  assertEquals((await request(`${at}/books`, { method: "POST", body })).status, 404);
  assertEquals((await request<EntityBody[]>(`${at}/books`)).body.map(({ title }) => title), ["A"]);
  assertEquals((await request(`${app.url}/tables/${table._id}/books`)).text, "[]");
  assertEquals((await request(`${app.url}/tables/${desk._id}/books`)).status, 404);
});

test("embedded documents have no collection of their own", async () => {
  await using app = await mount([Shelf]);
  const { at } = await putShelf(app.url, { title: "A" });
  for (const title of ["B", "C"]) {
    assertEquals((await request(at, { method: "POST", body: { title } })).status, 201);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  const collections = await app.database.connection.listCollections();
  assertEquals(collections.filter(({ name }) => /^book|embedded/i.test(name)), []);
});
