import { assertEquals } from "@std/assert";
import { Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, mount } from "./support.ts";

const SIX = [all(), one(), create(), update(), remove(), removeAll()];
const FOUR = [one(), create(), update(), remove()];

class Author extends FrameworkModel {
  @prop()
  name?: string;
}

class Place extends FrameworkModel {
  @prop()
  city?: string;
  @arrayProp({ items: String })
  lines?: string[];
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

/** Changes the last review, as a hook may do while another field is changed. */
function mark(_req: FrameworkRequest, entity: Entity<Film>): Entity<Film> {
  const last = entity.reviews?.at(-1);
  if (last !== undefined) last.text = "marked";
  return entity;
}

@rest({ route: "/films", methods: [all(), one()] })
@rest({
  route: "/slow",
  methods: [one({ preSend: (_req, entity) => entity }), update({ preSave: mark })],
})
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

/** Stores a film as another program might; gives its address, and a way to look at it. */
async function putFilm(url: string, fields: object) {
  const { collection } = getModel(Film);
  const { insertedId: _id } = await collection.insertOne({ __v: 0, ...fields } as never);
  return {
    id: String(_id),
    at: `${url}/films/${_id}`,
    stored: async () => await collection.findOne({ _id }) as unknown as Record<string, unknown>,
  };
}

const post = (url: string, body: object) => request<EntityBody>(url, { method: "POST", body });
const patch = (url: string, body: object) => request<EntityBody>(url, { method: "PATCH", body });
const erase = (url: string) => request(url, { method: "DELETE" });

const textsOf = (body: unknown) => (body as { text?: string }[]).map(({ text }) => text);

test("create() adds to an array that is stored as null, or as no list", async () => {
  await using app = await mount([Film]);
  const single = { _id: new Types.ObjectId(), text: "first" };
  for (
    const [reviews, texts] of [[null, ["new"]], [single, ["first", "new"]], [7, ["new"]]] as const
  ) {
    const { at } = await putFilm(app.url, { reviews });
    assertEquals((await post(`${at}/reviews`, { text: "new" })).status, 201);
    assertEquals<unknown>(textsOf((await request(`${at}/reviews`)).body), texts);
  }
  for (const places of [null, { city: "B" }]) {
    const review = { _id: new Types.ObjectId(), places };
    const { at } = await putFilm(app.url, { reviews: [review] });
    assertEquals((await post(`${at}/reviews/${review._id}/places`, { city: "A" })).status, 201);
  }
});

test("create() of a reference adds to an array that is stored as null, or as no list", async () => {
  await using app = await mount([Film]);
  const { _id } = await getModel(Author).create({ name: "old" });
  for (const [authors, count] of [[null, 1], [_id, 2], [[null, _id], 2]] as const) {
    const { at } = await putFilm(app.url, { authors });
    assertEquals((await post(`${at}/authors`, { name: "new" })).status, 201);
    assertEquals((await request<EntityBody[]>(`${at}/authors`)).body.length, count);
  }
  const { at } = await putFilm(app.url, { authors: _id });
  assertEquals((await erase(`${at}/authors/${_id}`)).status, 204);
  assertEquals((await request(`${at}/authors`)).body, []);
});

test("a single object in the place of an array is changed and removed as its element", async () => {
  await using app = await mount([Film]);
  const review = { _id: new Types.ObjectId(), text: "only", places: { _id: new Types.ObjectId() } };
  for (const path of ["", "/all"]) {
    const { at, stored } = await putFilm(app.url, { reviews: review });
    const item = `${at}/reviews/${review._id}`;
    assertEquals((await patch(item, { text: "new" })).status, 200);
    assertEquals((await patch(`${item}/places/${review.places._id}`, { city: "A" })).status, 200);
    assertEquals((await request<EntityBody>(item)).body.text, "new");
    assertEquals((await erase(path === "" ? item : `${at}/reviews`)).status, 204);
    assertEquals((await stored()).reviews, []);
  }
  const { at, stored } = await putFilm(app.url, { reviews: review });
  assertEquals((await erase(`${at}/reviews`)).status, 204);
  assertEquals((await stored()).reviews, []);
});

test("no read of a part breaks on a list in the place of an object", async () => {
  await using app = await mount([Film]);
  const _id = new Types.ObjectId();
  const { at } = await putFilm(app.url, {
    place: [{ city: "A" }],
    reviews: [[{ _id, text: "inner" }], { _id, text: "outer", places: [[{ city: "B" }]] }],
  });
  const statuses = [];
  for (const path of ["place", "reviews", `reviews/${_id}`, `reviews/${_id}/places`]) {
    statuses.push((await request(`${at}/${path}`)).status);
  }
  statuses.push((await patch(`${at}/place`, { city: "C" })).status);
  statuses.push((await erase(`${at}/place`)).status);
  assertEquals(statuses, [404, 200, 200, 200, 404, 404]);
  assertEquals(textsOf((await request(`${at}/reviews`)).body), ["outer"]);
});

test("an array with elements that are no objects shows the others, wherever it is read", async () => {
  await using app = await mount([Film]);
  const first = { _id: new Types.ObjectId(), text: "a" };
  const odd = [5, "text", new Types.ObjectId(), [first], true, new Date(0)];
  const { id, at } = await putFilm(app.url, { reviews: [first, ...odd, { ...first, text: "b" }] });
  const found = [(await request(`${at}/reviews`)).body];
  for (const url of [at, `${app.url}/slow/${id}`]) {
    found.push((await request<EntityBody>(url)).body.reviews);
  }
  const [shown] = (await request<EntityBody[]>(`${app.url}/films`)).body;
  assertEquals([...found, shown?.reviews].map(textsOf), Array(4).fill(["a", "b"]));
});

test("a hook that changes such an array changes the element that it means", async () => {
  await using app = await mount([Film]);
  const [a, b] = ["a", "b"].map((text) => ({ _id: new Types.ObjectId(), text }));
  const { id, stored } = await putFilm(app.url, { name: "n", reviews: [5, a, b] });
  assertEquals((await patch(`${app.url}/slow/${id}`, { name: "m" })).status, 200);
  const { reviews, name } = await stored();
  assertEquals([name, textsOf(reviews)], ["m", ["a", "marked"]]);
});

test("a list of references skips what is no identifier", async () => {
  await using app = await mount([Film]);
  const { _id } = await getModel(Author).create({ name: "A" });
  const { at } = await putFilm(app.url, {
    authors: [{ name: "x" }, _id, null],
    owner: { name: "x" },
  });
  const found = await request<EntityBody[]>(`${at}/authors`);
  assertEquals([found.status, found.body.map(({ name }) => name)], [200, ["A"]]);
  assertEquals((await request(`${at}/authors/${_id}`)).status, 200);
  assertEquals((await request(`${at}/owner`)).status, 404);
  assertEquals((await erase(`${at}/authors`)).status, 204);
  assertEquals((await request(`${at}/authors`)).body, []);
});

test("update() of a part replaces what is stored as no object where an object is declared", async () => {
  await using app = await mount([Film]);
  const _id = new Types.ObjectId();
  const bodies = [{ counts: { a: 1 } }, { place: { city: "A" } }, { place: { lines: ["l"] } }];
  for (const odd of [5, "text", new Types.ObjectId(), null, [5]]) {
    for (const body of bodies) {
      const review = { _id, [Object.keys(body).join()]: odd };
      const { at } = await putFilm(app.url, { reviews: [review] });
      const { status, body: answer } = await patch(`${at}/reviews/${_id}`, body);
      assertEquals([odd, body, status], [odd, body, 200]);
      assertEquals((await request(`${at}/reviews/${_id}`)).body, answer);
    }
  }
});
