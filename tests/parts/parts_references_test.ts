import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  type Ref,
  removeAll,
  rest,
} from "../../mod.ts";
import { client } from "../support/client.ts";
import { Author, Book, Note, putBook } from "../fixtures/library.ts";
import { test } from "../harness/testing.ts";
import { namesAt, namesOf } from "../support/names.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "../support/support.ts";

/** Stores a book with authors of its own; gives their identifiers, a client for them, and what the book holds. */
async function putAuthors(app: { readonly url: string }, ...authors: object[]) {
  const ids = (await getModel(Author).create(authors as never[])).map(({ _id }) => String(_id));
  const { id, url, stored } = await putBook(app, { authors: ids });
  const held = async () => {
    const { authors, __v } = await stored();
    return { authors: authors?.map(String), __v };
  };
  return { id, ids: ids as [string, ...string[]], held, ...client(`${url}/authors`) };
}

test("all() of references lists the entities that this parent holds, and no others", async () => {
  await using app = await mount([Book]);
  const authors = await putAuthors(app, { name: "A", age: 3, pin: "1" }, { name: "B" });
  const other = await putAuthors(app, { name: "C" });
  const empty = await putAuthors(app);
  await getModel(Author).create({ name: "D" });
  const reply = await authors.get<EntityBody[]>();
  assertEquals(reply.status, 200);
  const [first] = reply.body.filter(({ _id }) => _id === authors.ids[0]);
  assertEquals<unknown>(first, { _id: authors.ids[0], name: "A", age: 3, notes: [], __v: 0 });
  assertEquals(await namesAt(authors.url), "AB");
  assertEquals([await namesAt(other.url), (await empty.get()).text], ["C", "[]"]);
});

test("create() of a reference stores the entity and adds its identifier", async () => {
  await using app = await mount([Book], { at: "/api" });
  const { id, ids, held } = await putAuthors(app, { name: "A" });
  const path = `/api/books/${id}/authors`;
  const { status, headers, body } = await app.post(path, { name: "B", pin: "1", _id: NOBODY });
  assertEquals([status, headers.get("location")], [201, `${path}/${body._id}`]);
  assertMatch(body._id, /^[0-9a-f]{24}$/);
  assertEquals<unknown>(body, { _id: body._id, name: "B", notes: [], __v: 0 });
  assert(body._id !== NOBODY);
  assertEquals(await held(), { authors: [ids[0], body._id], __v: 1 });
  assertEquals((await getModel(Author).findById(body._id))?.pin, "1");
  assertEquals((await app.get(`${headers.get("location")}`)).body, body);
});

test("create() of a reference that is not valid stores nothing and adds nothing", async () => {
  await using app = await mount([Book]);
  const { post, held } = await putAuthors(app);
  const reply = await post<ErrorBody>("", { age: "x" });
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  const missing = await post<ErrorBody>("", {});
  assertEquals([missing.status, Object.keys(missing.body.errors ?? {})], [400, ["name"]]);
  assertEquals(await held(), { authors: [], __v: 0 });
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("create() of a reference below a parent that is not there stores nothing", async () => {
  await using app = await mount([Book]);
  for (const id of [NOBODY, "x"]) {
    assertEquals((await app.post(`/books/${id}/authors`, { name: "A" })).status, 404);
  }
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("remove() of a reference that is held twice takes both", async () => {
  await using app = await mount([Book]);
  const { id, get, delete: remove, ids, held } = await putAuthors(app, { name: "A" });
  await getModel(Book).updateOne({ _id: id }, { $push: { authors: ids[0] } } as never);
  assertEquals((await get<unknown[]>()).body.length, 1);
  assertEquals((await remove(`/${ids[0]}`)).status, 204);
  assertEquals((await held()).authors, []);
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
    @arrayProp({ items: Note })
    notes?: Ref<Note>[];
  }
  await using app = await mount([Play]);
  const [a, b] = await getModel(Note).create([{ name: "A" }, { name: "B" }]);
  const play = await getModel(Play).create({ notes: [a?._id, b?._id] as never });
  await app.delete(`/plays/${play._id}/notes`);
  assertEquals(namesOf(await getModel(Note).find()), ["A"]);
  assertEquals((await getModel(Play).findById(play._id))?.notes?.map(String), [String(a?._id)]);
});

test("a reference is left in place when removeAll() passes hooks and one of them refuses", async () => {
  @rest({ route: "/operas", methods: [one()] })
  class Opera extends FrameworkModel {
    @rest({
      methods: [removeAll<Note>({ preSave: (_req, note) => note.name === "B" ? null : note })],
    })
    @arrayProp({ items: Note })
    notes?: Ref<Note>[];
  }
  await using app = await mount([Opera]);
  const [a, b] = await getModel(Note).create([{ name: "A" }, { name: "B" }]);
  const opera = await getModel(Opera).create({ notes: [a?._id, b?._id] as never });
  const path = `/operas/${opera._id}/notes`;
  assertEquals((await app.delete(path)).status, 403);
  assertEquals(await getModel(Note).countDocuments(), 2);
  const only = await app.delete(`${path}${asQuery({ name: "A" })}`);
  assertEquals([only.status, await getModel(Note).countDocuments()], [204, 1]);
  assertEquals((await getModel(Opera).findById(opera._id))?.notes?.map(String), [String(b?._id)]);
});

test("rest() of references with ref, and with another route, works like items", async () => {
  @rest({ route: "/shows", methods: [one()] })
  class Show extends FrameworkModel {
    @rest({ route: "/cast/all", methods: [all(), create()] })
    @arrayProp({ items: () => Note })
    notes?: string[];
  }
  await using app = await mount([Show]);
  const show = await getModel(Show).create({});
  const path = `/shows/${show._id}/cast/all`;
  assertEquals((await app.post(path, { name: "A" })).status, 201);
  assertEquals(await namesAt(`${app.url}${path}`), "A");
  assertEquals((await app.get(`${path}/${NOBODY}`)).text.includes("Cannot GET"), true);
});
