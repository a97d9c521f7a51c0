import { assertEquals } from "@std/assert";
import { Types } from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, type Ref, rest } from "../../mod.ts";
import { client } from "../support/client.ts";
import { Author } from "../fixtures/library.ts";
import { FOUR, SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { namesOf } from "../support/names.ts";
import { type EntityBody, mount } from "../support/support.ts";

class Place extends FrameworkModel {
  @prop()
  city?: string;
  @arrayProp({ items: String })
  lines?: string[];
  /** Named as a member of arrays is. */
  @prop({ type: Map, of: String })
  map?: Map<string, string>;
}

class Review extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Place })
  place?: Place;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @rest({ methods: SIX })
  @arrayProp({ items: Place, embedded: true })
  places?: Place[];
}

@rest({ route: "/films", methods: [all(), one()] })
class Film extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Review, embedded: true })
  reviews?: Review[];
  @rest({ methods: FOUR })
  @prop({ type: Place })
  place?: Place;
  @rest({ methods: SIX })
  @arrayProp({ items: Author })
  authors?: Ref<Author>[];
  @rest({ methods: FOUR })
  @prop({ ref: Author })
  owner?: Ref<Author>;
}

/** Stores a film as another program might; gives a client for what is below it, and what is stored of it. */
async function putFilm({ url }: { readonly url: string }, fields: object) {
  const { collection } = getModel(Film);
  const { insertedId: _id } = await collection.insertOne({ __v: 0, ...fields } as never);
  const stored = async () => await collection.findOne({ _id }) as unknown as EntityBody;
  return { id: String(_id), stored, ...client(`${url}/films/${_id}`) };
}

const textsOf = (body: unknown) => (body as { text?: string }[]).map(({ text }) => text);

test("create() adds to an array that is stored as null, or as no list", async () => {
  await using app = await mount([Film]);
  const single = { _id: new Types.ObjectId(), text: "first" };
  for (
    const [reviews, texts] of [[null, ["new"]], [single, ["first", "new"]], [7, ["new"]]] as const
  ) {
    const film = await putFilm(app, { reviews });
    assertEquals((await film.post("/reviews", { text: "new" })).status, 201);
    assertEquals<unknown>(textsOf((await film.get("/reviews")).body), texts);
  }
  for (const places of [null, { city: "B" }]) {
    const review = { _id: new Types.ObjectId(), places };
    const film = await putFilm(app, { reviews: [review] });
    assertEquals((await film.post(`/reviews/${review._id}/places`, { city: "A" })).status, 201);
  }
});

test("create() of a reference adds to an array that is stored as null, or as no list", async () => {
  await using app = await mount([Film]);
  const { _id } = await getModel(Author).create({ name: "old" });
  for (const [authors, count] of [[null, 1], [_id, 2], [[null, _id], 2]] as const) {
    const film = await putFilm(app, { authors });
    assertEquals((await film.post("/authors", { name: "new" })).status, 201);
    assertEquals((await film.get<EntityBody[]>("/authors")).body.length, count);
  }
  const film = await putFilm(app, { authors: _id });
  assertEquals((await film.delete(`/authors/${_id}`)).status, 204);
  assertEquals((await film.get("/authors")).body, []);
});

test("a single object in the place of an array is changed and removed as its element", async () => {
  await using app = await mount([Film]);
  const review = { _id: new Types.ObjectId(), text: "only", places: { _id: new Types.ObjectId() } };
  for (const path of ["", "/all"]) {
    const film = await putFilm(app, { reviews: review });
    const item = `/reviews/${review._id}`;
    assertEquals((await film.patch(item, { text: "new" })).status, 200);
    const place = `${item}/places/${review.places._id}`;
    assertEquals((await film.patch(place, { city: "A" })).status, 200);
    assertEquals((await film.get<EntityBody>(item)).body.text, "new");
    assertEquals((await film.delete(path === "" ? item : "/reviews")).status, 204);
    assertEquals((await film.stored()).reviews, []);
  }
  const film = await putFilm(app, { reviews: review });
  assertEquals((await film.delete("/reviews")).status, 204);
  assertEquals((await film.stored()).reviews, []);
});

test("no read of a part breaks on a list in the place of an object", async () => {
  await using app = await mount([Film]);
  const _id = new Types.ObjectId();
  const film = await putFilm(app, {
    place: [{ city: "A" }],
    reviews: [[{ _id, text: "inner" }], { _id, text: "outer", places: [[{ city: "B" }]] }],
  });
  const statuses = [];
  for (const path of ["place", "reviews", `reviews/${_id}`, `reviews/${_id}/places`]) {
    statuses.push((await film.get(`/${path}`)).status);
  }
  statuses.push((await film.patch("/place", { city: "C" })).status);
  statuses.push((await film.delete("/place")).status);
  assertEquals(statuses, [404, 200, 200, 200, 404, 404]);
  assertEquals(textsOf((await film.get("/reviews")).body), ["outer"]);
});

test("a list of references skips what is no identifier", async () => {
  await using app = await mount([Film]);
  const { _id } = await getModel(Author).create({ name: "A" });
  const film = await putFilm(app, {
    authors: [{ name: "x" }, _id, null],
    owner: { name: "x" },
  });
  const found = await film.get<EntityBody[]>("/authors");
  assertEquals([found.status, namesOf(found.body)], [200, ["A"]]);
  assertEquals((await film.get(`/authors/${_id}`)).status, 200);
  assertEquals((await film.get("/owner")).status, 404);
  assertEquals((await film.delete("/authors")).status, 204);
  assertEquals((await film.get("/authors")).body, []);
});

test("update() of a part replaces what is stored as no object where an object is declared", async () => {
  await using app = await mount([Film]);
  const _id = new Types.ObjectId();
  const bodies = [{ place: { city: "A" } }, { place: { lines: ["l"] } }];
  for (const odd of [5, "text", null, [5]]) {
    for (const body of bodies) {
      const review = { _id, [Object.keys(body).join()]: odd };
      const film = await putFilm(app, { reviews: [review] });
      const { status, body: answer } = await film.patch(`/reviews/${_id}`, body);
      assertEquals([odd, body, status], [odd, body, 200]);
      assertEquals((await film.get(`/reviews/${_id}`)).body, answer);
    }
  }
});

test("update() of a part replaces a list to which Mongoose gives members of its own", async () => {
  await using app = await mount([Film]);
  for (const place of [[[]], [{ city: "A" }], []]) {
    const _id = new Types.ObjectId();
    const film = await putFilm(app, { reviews: [{ _id, place }] });
    assertEquals((await film.patch(`/reviews/${_id}`, { place: { city: "C" } })).status, 200);
  }
});
