import { assertEquals, assertMatch } from "@std/assert";
import { create, FrameworkModel, getModel, one, prop, type Ref, remove, rest } from "../../mod.ts";
import { client } from "../support/client.ts";
import { Author, Book, Cover, Note, putBook } from "../fixtures/library.ts";
import { FOUR } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { namesOf } from "../support/names.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "../support/support.ts";

/** The parts of a book that are single: one that is embedded, and one that is referred to. */
const SINGLE = ["/cover", "/owner"];

/** What is stored of a book without chapters and authors, besides its identifier. */
const BARE = { name: "A", chapters: [], authors: [], __v: 0 };

test("one(), update() and remove() of a single part that is not there answer 404", async () => {
  await using app = await mount([Book]);
  const book = await putBook(app);
  for (const part of SINGLE) {
    const found = [
      await book.get<ErrorBody>(part),
      await book.patch<ErrorBody>(part, { name: "B" }),
      await book.delete<ErrorBody>(part),
    ];
    assertEquals(found.map(({ status }) => status), [404, 404, 404]);
    assertEquals(found[0]?.body.code, "NOT_FOUND");
  }
  assertEquals<unknown>(await book.stored(), { _id: book.id, ...BARE });
});

test("create() of a single embedded document answers 201 and the path it is at", async () => {
  await using app = await mount([Book], { at: "/api" });
  const { id, stored } = await putBook(app);
  const path = `/api/books/${id}/cover`;
  const { status, headers, body } = await app.post(path, { name: "C", weight: "1", _id: NOBODY });
  assertEquals([status, headers.get("location")], [201, path]);
  assertMatch(body._id, /^[0-9a-f]{24}$/);
  assertEquals(body._id === NOBODY, false);
  assertEquals<unknown>(body, { _id: body._id, name: "C", weight: 1, notes: [] });
  assertEquals((await app.get(path)).body, body);
  const { cover, __v } = await stored();
  assertEquals([String(cover?._id), cover?.name, __v], [body._id, "C", 1]);
});

test("create() of a single part answers 409 if it is there, and keeps what is there", async () => {
  await using app = await mount([Book]);
  const { created, post, stored } = await putBook(app);
  for (const part of SINGLE) await created(part, { name: "A" });
  const before = await stored();
  for (const part of SINGLE) {
    const reply = await post<ErrorBody>(part, { name: "B" });
    const message = "There is one already, or its parent was changed by someone else";
    assertEquals([reply.status, reply.body], [409, { code: "CONFLICT", message }]);
  }
  assertEquals(await stored(), before);
  assertEquals(namesOf(await getModel(Author).find()), ["A"]);
});

test("create() of a single part fills one that holds null", async () => {
  await using app = await mount([Book]);
  const { id, created, get } = await putBook(app);
  const nothing = { $set: { cover: null, owner: null } };
  await getModel(Book).collection.updateOne({ _id: id }, nothing);
  for (const part of SINGLE) {
    assertEquals((await get(part)).status, 404);
    await created(part, { name: "A" });
  }
});

test("create() of a single part that is not valid answers 400 and writes nothing", async () => {
  await using app = await mount([Book]);
  const { id, post, stored } = await putBook(app);
  for (const part of SINGLE) {
    const reply = await post<ErrorBody>(part, {});
    const found = [reply.status, reply.body.code, Object.keys(reply.body.errors ?? {})];
    assertEquals(found, [400, "BAD_DATA", ["name"]]);
  }
  assertEquals<unknown>(await stored(), { _id: id, ...BARE });
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("create() of a single reference stores the entity and its identifier", async () => {
  await using app = await mount([Book]);
  const { id, get, post, stored } = await putBook(app);
  const { status, headers, body } = await post("/owner", { name: "A" });
  assertEquals([status, headers.get("location")], [201, `/books/${id}/owner`]);
  assertEquals<unknown>(body, { _id: body._id, name: "A", notes: [], __v: 0 });
  assertEquals((await get<EntityBody>("/owner")).body, body);
  const after = await stored();
  assertEquals([String(after.owner), after.__v], [body._id, 1]);
});

test("update() of a single reference changes the entity, not its parent", async () => {
  await using app = await mount([Book]);
  const { created, patch, stored } = await putBook(app);
  await created("/owner", { name: "A" });
  const before = await stored();
  assertEquals((await patch("/owner", { name: "B" })).body.name, "B");
  assertEquals((await getModel(Author).findOne())?.name, "B");
  assertEquals(await stored(), before);
});

test("remove() of a single reference deletes the entity and its identifier", async () => {
  await using app = await mount([Book]);
  const book = await putBook(app);
  const other = await putBook(app);
  await book.created("/owner", { name: "A" });
  await other.created("/owner", { name: "B" });
  assertEquals((await book.delete("/owner")).status, 204);
  assertEquals<unknown>(await book.stored(), { _id: book.id, ...BARE, __v: 2 });
  assertEquals(namesOf(await getModel(Author).find()), ["B"]);
});

test("create() of a single reference replaces an identifier that leads nowhere", async () => {
  await using app = await mount([Book]);
  const book = await putBook(app, { owner: NOBODY });
  assertEquals((await book.get("/owner")).status, 404);
  assertEquals((await book.delete("/owner")).status, 404);
  const { _id } = await book.created("/owner", { name: "A" });
  assertEquals(String((await book.stored()).owner), _id);
});

test("every operation on a single part honours q", async () => {
  await using app = await mount([Book]);
  const book = await putBook(app, { cover: { name: "A", weight: 1 } });
  await book.created("/owner", { name: "A", age: 1 });
  const cases = [
    ["/cover", { weight: 1 }, { weight: 2 }],
    ["/owner", { name: "A" }, { name: "B" }],
  ] as const;
  for (const [part, hit, miss] of cases) {
    const missed = `${part}${asQuery(miss)}`;
    const found = [await book.get(missed), await book.patch(missed, {}), await book.delete(missed)];
    assertEquals(found.map(({ status }) => status), [404, 404, 404]);
    assertEquals((await book.get(`${part}${asQuery({ other: 1 })}`)).status, 400);
    assertEquals((await book.patch(`${part}${asQuery(hit)}`, miss)).status, 200);
  }
  assertEquals((await book.delete(`/cover${asQuery({ weight: 2 })}`)).status, 204);
});

test("a single part that its parent requires cannot be removed", async () => {
  @rest({ route: "/huts", methods: [one()] })
  class Hut extends FrameworkModel {
    @rest({ methods: [one(), create(), remove()] })
    @prop({ type: Cover, required: true })
    cover!: Cover;
    @rest({ methods: [one(), create(), remove()] })
    @prop({ ref: Author, required: [true, "Nobody lives here"] })
    owner!: Ref<Author>;
  }
  await using app = await mount([Hut]);
  const owner = await getModel(Author).create({ name: "A" });
  const { _id } = await getModel(Hut).create({ cover: { name: "C" }, owner } as never);
  const hut = client(`${app.url}/huts/${_id}`);
  for (const property of ["cover", "owner"]) {
    const reply = await hut.delete<ErrorBody>(`/${property}`);
    assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
    assertEquals(reply.body.errors?.[property]?.kind, "required");
    assertEquals((await hut.get(`/${property}`)).status, 200);
  }
  assertEquals(await getModel(Author).countDocuments(), 1);
});

test("create() of a single part that is required fills one that the stored parent lacks", async () => {
  @rest({ route: "/tents", methods: [one()] })
  class Tent extends FrameworkModel {
    @rest({ methods: [create()] })
    @prop({ type: Note, required: true })
    note!: Note;
  }
  await using app = await mount([Tent]);
  const { insertedId } = await getModel(Tent).collection.insertOne({});
  await app.created(`/tents/${insertedId}/note`, { name: "N" });
  assertEquals((await getModel(Tent).findById(insertedId))?.note.name, "N");
});

test("a single embedded document without _id has all its operations", async () => {
  class Point extends FrameworkModel {
    static override schemaOptions = { _id: false };
    @prop({ type: Number })
    x?: number;
    @prop({ select: false })
    note?: string;
  }
  @rest({ route: "/pins", methods: [one()] })
  class Pin extends FrameworkModel {
    @rest({ methods: FOUR })
    @prop({ type: Point })
    point?: Point;
  }
  await using app = await mount([Pin]);
  const pin = await getModel(Pin).create({});
  const point = client(`${app.url}/pins/${pin._id}/point`);
  assertEquals((await point.post("", { x: 1, note: "n" })).text, '{"x":1}');
  assertEquals((await point.patch("", { x: 2 })).text, '{"x":2}');
  assertEquals((await point.get()).text, '{"x":2}');
  assertEquals((await point.delete()).status, 204);
});
