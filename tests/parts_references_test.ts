import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
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
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "./support.ts";

class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  age?: number;
  @prop({ hidden: true })
  pin?: string;
}

@rest({ route: "/movies", methods: [one(), create(), update()] })
class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: [all(), one(), create(), update(), remove(), removeAll()] })
  @arrayProp({ items: Actor })
  actors?: Ref<Actor>[];
}

/** Stores a movie with actors of its own, gives its identifier, theirs, and the path of its actors. */
async function putMovie(url: string, ...actors: Partial<Actor>[]) {
  const stored = await getModel(Actor).create(actors as never[]) as Actor[];
  const ids = stored.map(({ _id }) => _id);
  const movie = await getModel(Movie).create({ name: "A", actors: ids as Ref<Actor>[] });
  return {
    id: movie._id,
    ids: ids.map(String) as [string, ...string[]],
    at: `${url}/movies/${movie._id}/actors`,
  };
}

/** The identifiers that a movie holds, and its version, as they are stored. */
async function held(id: unknown): Promise<{ actors: string[]; __v: unknown }> {
  const movie = await getModel(Movie).collection.findOne({ _id: id as never });
  return { actors: (movie?.actors ?? []).map(String), __v: movie?.__v };
}

async function namesAt(url: string): Promise<string> {
  const { body } = await request<EntityBody[]>(url);
  return body.map(({ name }) => name).sort().join("");
}

test("all() of references lists the entities that this parent holds, and no others", async () => {
  await using app = await mount([Movie]);
  const { at, ids } = await putMovie(app.url, { name: "A", age: 3, pin: "1" }, { name: "B" });
  const other = await putMovie(app.url, { name: "C" });
  const empty = await putMovie(app.url);
  await getModel(Actor).create({ name: "D" });
  const reply = await request<EntityBody[]>(at);
  assertEquals(reply.status, 200);
  const [first] = reply.body.filter(({ _id }) => _id === ids[0]);
  assertEquals(first, { _id: ids[0], name: "A", age: 3, __v: 0 });
  assertEquals(await namesAt(at), "AB");
  assertEquals([await namesAt(other.at), (await request(empty.at)).text], ["C", "[]"]);
});

test("all() of references skips the identifiers that lead nowhere", async () => {
  await using app = await mount([Movie]);
  const { at, ids } = await putMovie(app.url, { name: "A" }, { name: "B" });
  await getModel(Actor).deleteOne({ _id: ids[0] });
  assertEquals(await namesAt(at), "B");
  assertEquals((await request(`${at}/${ids[0]}`)).status, 404);
});

test("all() of references filters by q, and refuses a bad one", async () => {
  await using app = await mount([Movie]);
  const { at } = await putMovie(app.url, { name: "A", age: 1 }, { name: "B", age: 2, pin: "1" });
  const other = await putMovie(app.url, { name: "C", age: 2 });
  assertEquals(await namesAt(`${at}${asQuery({ age: "2" })}`), "B");
  // No q reaches past the parent, not even one that names the other's identifier
  const foreign = { $or: [{ _id: other.ids[0] }, { age: 2 }] };
  assertEquals(await namesAt(`${at}${asQuery(foreign)}`), "B");
  for (const q of [{ pin: "1" }, { actors: 1 }, { $where: "1" }]) {
    const reply = await request<ErrorBody>(`${at}${asQuery(q)}`);
    assertEquals([q, reply.status, reply.body.code], [q, 400, "BAD_FORMAT"]);
  }
});

test("one() of a reference answers 404 for an entity that exists but belongs elsewhere", async () => {
  await using app = await mount([Movie]);
  const { at, ids } = await putMovie(app.url, { name: "A" });
  const other = await putMovie(app.url, { name: "B" });
  assertEquals((await request<EntityBody>(`${at}/${ids[0]}`)).body.name, "A");
  for (const id of [other.ids[0], NOBODY, "x"]) {
    const reply = await request<ErrorBody>(`${at}/${id}`);
    assertEquals([id, reply.status, reply.body.code], [id, 404, "NOT_FOUND"]);
  }
});

test("update() and remove() of a reference change nothing that belongs elsewhere", async () => {
  await using app = await mount([Movie]);
  const { at } = await putMovie(app.url, { name: "A" });
  const other = await putMovie(app.url, { name: "B" });
  const url = `${at}/${other.ids[0]}`;
  assertEquals((await request(url, { method: "PATCH", body: { name: "no" } })).status, 404);
  assertEquals((await request(url, { method: "DELETE" })).status, 404);
  const q = asQuery({ _id: other.ids[0] });
  assertEquals((await request(`${at}${q}`, { method: "DELETE" })).status, 204);
  assertEquals(await namesAt(other.at), "B");
});

test("create() of a reference stores the entity and adds its identifier", async () => {
  await using app = await mount([Movie], { at: "/api" });
  const { id, ids } = await putMovie(app.url, { name: "A" });
  const path = `/api/movies/${id}/actors`;
  const body = { name: "B", pin: "1", _id: NOBODY };
  const reply = await request<EntityBody>(`${app.url}${path}`, { method: "POST", body });
  assertEquals([reply.status, reply.headers.get("location")], [201, `${path}/${reply.body._id}`]);
  assertMatch(reply.body._id, /^[0-9a-f]{24}$/);
  assertEquals(reply.body, { _id: reply.body._id, name: "B", __v: 0 });
  assert(reply.body._id !== NOBODY);
  assertEquals(await held(id), { actors: [ids[0], reply.body._id], __v: 1 });
  assertEquals((await getModel(Actor).findById(reply.body._id))?.pin, "1");
  assertEquals((await request(`${app.url}${reply.headers.get("location")}`)).body, reply.body);
});

test("create() of a reference that is not valid stores nothing and adds nothing", async () => {
  await using app = await mount([Movie]);
  const { id, at } = await putMovie(app.url);
  const reply = await request<ErrorBody>(at, { method: "POST", body: { age: "x" } });
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  const missing = await request<ErrorBody>(at, { method: "POST", body: {} });
  assertEquals([missing.status, Object.keys(missing.body.errors ?? {})], [400, ["name"]]);
  assertEquals([await held(id), await getModel(Actor).countDocuments()], [
    { actors: [], __v: 0 },
    0,
  ]);
});

test("create() of a reference below a parent that is not there stores nothing", async () => {
  await using app = await mount([Movie]);
  for (const id of [NOBODY, "x"]) {
    const url = `${app.url}/movies/${id}/actors`;
    assertEquals((await request(url, { method: "POST", body: { name: "A" } })).status, 404);
  }
  assertEquals(await getModel(Actor).countDocuments(), 0);
});

test("update() of a reference changes the entity, not its parent", async () => {
  await using app = await mount([Movie]);
  const { id, at, ids } = await putMovie(app.url, { name: "A", age: 1 });
  const url = `${at}/${ids[0]}`;
  const reply = await request<EntityBody>(url, { method: "PATCH", body: { age: 2 } });
  assertEquals([reply.status, reply.body], [200, { _id: ids[0], name: "A", age: 2, __v: 1 }]);
  assertEquals((await getModel(Actor).findById(ids[0]))?.age, 2);
  assertEquals(await held(id), { actors: ids, __v: 0 });
  const bad = await request<ErrorBody>(url, { method: "PATCH", body: { name: null } });
  assertEquals([bad.status, bad.body.code], [400, "BAD_DATA"]);
  const missed = `${url}${asQuery({ age: 1 })}`;
  assertEquals((await request(missed, { method: "PATCH", body: { age: 9 } })).status, 404);
});

test("remove() of a reference deletes the entity and takes its identifier from this parent", async () => {
  await using app = await mount([Movie]);
  const { id, at, ids } = await putMovie(app.url, { name: "A" }, { name: "B" });
  const shared = await getModel(Movie).create({ name: "S", actors: ids as never });
  const reply = await request(`${at}/${ids[0]}`, { method: "DELETE" });
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(await held(id), { actors: [ids[1] ?? ""], __v: 1 });
  assertEquals(await getModel(Actor).countDocuments({ _id: ids[0] }), 0);
  assertEquals((await request(`${at}/${ids[0]}`, { method: "DELETE" })).status, 404);
  // Elsewhere the identifier stays, and is skipped
  assertEquals(await held(shared._id), { actors: ids, __v: 0 });
  assertEquals(await namesAt(`${app.url}/movies/${shared._id}/actors`), "B");
});

test("remove() of a reference that is held twice takes both", async () => {
  await using app = await mount([Movie]);
  const { id, at, ids } = await putMovie(app.url, { name: "A" });
  await getModel(Movie).updateOne({ _id: id }, { $push: { actors: ids[0] } } as never);
  assertEquals((await request<unknown[]>(at)).body.length, 1);
  assertEquals((await request(`${at}/${ids[0]}`, { method: "DELETE" })).status, 204);
  assertEquals((await held(id)).actors, []);
});

test("removeAll() of references takes what q selects, of this parent", async () => {
  await using app = await mount([Movie]);
  const { id, at, ids } = await putMovie(app.url, { name: "A", age: 1 }, { name: "B", age: 2 });
  const other = await putMovie(app.url, { name: "C", age: 2 });
  const reply = await request(`${at}${asQuery({ age: 2 })}`, { method: "DELETE" });
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(await held(id), { actors: [ids[0]], __v: 1 });
  assertEquals(await getModel(Actor).countDocuments(), 2);
  for (const query of ["?q={", "?q[age]=1", asQuery({ pin: "1" })]) {
    assertEquals((await request(`${at}${query}`, { method: "DELETE" })).status, 400);
  }
  assertEquals((await held(id)).actors, [ids[0]]);
  assertEquals((await request(at, { method: "DELETE" })).status, 204);
  assertEquals([(await held(id)).actors, await namesAt(other.at)], [[], "C"]);
  assertEquals(await getModel(Actor).countDocuments(), 1);
});

test("removeAll() of references honours the page that a hook asks for", async () => {
  @rest({ route: "/plays", methods: [one()] })
  class Play extends FrameworkModel {
    @rest({
      methods: [removeAll({
        preFetch: (req) => {
          Object.assign(req.framework.options, { sort: { name: -1 }, limit: 1 });
          return true;
        },
      })],
    })
    @arrayProp({ items: Actor })
    actors?: Ref<Actor>[];
  }
  await using app = await mount([Play]);
  const [a, b] = await getModel(Actor).create([{ name: "A" }, { name: "B" }]);
  const play = await getModel(Play).create({ actors: [a?._id, b?._id] as never });
  await request(`${app.url}/plays/${play._id}/actors`, { method: "DELETE" });
  assertEquals((await getModel(Actor).find()).map(({ name }) => name), ["A"]);
  assertEquals((await getModel(Play).findById(play._id))?.actors?.map(String), [String(a?._id)]);
});

test("a reference is left in place when removeAll() passes hooks and one of them refuses", async () => {
  @rest({ route: "/operas", methods: [one()] })
  class Opera extends FrameworkModel {
    @rest({
      methods: [removeAll<Actor>({ preSave: (_req, actor) => actor.name === "B" ? null : actor })],
    })
    @arrayProp({ items: Actor })
    actors?: Ref<Actor>[];
  }
  await using app = await mount([Opera]);
  const [a, b] = await getModel(Actor).create([{ name: "A" }, { name: "B" }]);
  const opera = await getModel(Opera).create({ actors: [a?._id, b?._id] as never });
  const url = `${app.url}/operas/${opera._id}/actors`;
  assertEquals((await request(url, { method: "DELETE" })).status, 403);
  assertEquals(await getModel(Actor).countDocuments(), 2);
  const only = await request(`${url}${asQuery({ name: "A" })}`, { method: "DELETE" });
  assertEquals([only.status, await getModel(Actor).countDocuments()], [204, 1]);
  assertEquals((await getModel(Opera).findById(opera._id))?.actors?.map(String), [String(b?._id)]);
});

test("rest() of references with ref, and with another route, works like items", async () => {
  @rest({ route: "/shows", methods: [one()] })
  class Show extends FrameworkModel {
    @rest({ route: "/cast/all", methods: [all(), create()] })
    @arrayProp({ items: () => Actor })
    actors?: string[];
  }
  await using app = await mount([Show]);
  const show = await getModel(Show).create({});
  const url = `${app.url}/shows/${show._id}/cast/all`;
  assertEquals((await request(url, { method: "POST", body: { name: "A" } })).status, 201);
  assertEquals(await namesAt(url), "A");
  assertEquals((await request(`${url}/${NOBODY}`)).text.includes("Cannot GET"), true);
});
