import { assert, assertEquals } from "@std/assert";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
} from "../../mod.ts";
import { client } from "../support/client.ts";
import { Author, Book, putBook } from "../fixtures/library.ts";
import { FOUR, SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { namesAt, namesOf } from "../support/names.ts";
import { asQuery, type EntityBody, mount, NOBODY } from "../support/support.ts";

/** Stores a book with two chapters of two notes each. */
async function putTwo(app: { readonly url: string }) {
  const notes = (...names: string[]) => names.map((name) => ({ name }));
  const chapters = [{ name: "1", notes: notes("a", "b") }, { name: "2", notes: notes("c", "d") }];
  const book = await putBook(app, { chapters });
  const [first, second] = book.ids.map((id) => `/chapters/${id}`) as [string, string];
  return { ...book, first, second };
}

/** The names of the notes of each chapter. */
function notesOf({ chapters = [] }: Book): string[] {
  return chapters.map(({ notes }) => namesOf(notes).join(""));
}

test("every operation works on an embedded array inside an embedded array", async () => {
  await using app = await mount([Book]);
  const { second, stored, url, ...book } = await putTwo(app);
  const notes = client(`${url}${second}/notes`);
  const added = await book.post(`${second}/notes`, { name: "e" });
  assertEquals(added.status, 201);
  const item = `/${added.body._id}`;
  assertEquals(added.headers.get("location"), new URL(notes.url + item).pathname);
  assertEquals((await notes.patch(item, { name: "f" })).body.name, "f");
  assertEquals((await notes.get<EntityBody>(item)).body.name, "f");
  assertEquals(await namesAt(notes.url), "cdf");
  assertEquals(await namesAt(`${notes.url}${asQuery({ name: { $ne: "c" } })}`), "df");
  assertEquals(notesOf(await stored()), ["ab", "cdf"]);
  assertEquals((await notes.delete(item)).status, 204);
  assertEquals((await notes.delete(asQuery({ name: "c" }))).status, 204);
  assertEquals(notesOf(await stored()), ["ab", "d"]);
  assertEquals([(await notes.delete()).status, notesOf(await stored())], [204, ["ab", ""]]);
  assertEquals((await stored()).__v, 5);
});

test("an element of a nested array is 404 under any parent but its own", async () => {
  await using app = await mount([Book]);
  const book = await putTwo(app);
  const other = await putTwo(app);
  const note = (await book.stored()).chapters?.[1]?.notes?.[0]?._id;
  const wrong = [
    `${book.url}${book.first}/notes/${note}`,
    `${other.url}${book.second}/notes/${note}`,
    `${other.url}${other.second}/notes/${note}`,
    `${book.url}/chapters/${NOBODY}/notes/${note}`,
  ].map((url) => client(url));
  for (const { url, get, patch, delete: erase } of wrong) {
    const found = [await get(), await patch("", { name: "x" }), await erase()];
    assertEquals([url, ...found.map(({ status }) => status)], [url, 404, 404, 404]);
  }
  for (const url of [`${book.url}/chapters/${NOBODY}/notes`, `${other.url}${book.second}/notes`]) {
    const { post, delete: erase } = client(url);
    assertEquals([(await post("", { name: "x" })).status, (await erase()).status], [404, 404]);
  }
  assertEquals(notesOf(await book.stored()), ["ab", "cd"]);
  assertEquals(notesOf(await other.stored()), ["ab", "cd"]);
});

test("a single embedded document works inside an embedded array", async () => {
  await using app = await mount([Book]);
  const { second, stored, ...book } = await putTwo(app);
  const motto = client(`${book.url}${second}/motto`);
  assertEquals((await motto.get()).status, 404);
  const added = await motto.post("", { name: "m" });
  assertEquals([added.status, added.headers.get("location")], [201, new URL(motto.url).pathname]);
  assertEquals((await motto.post("", { name: "n" })).status, 409);
  assertEquals((await motto.patch("", { name: "o" })).body.name, "o");
  const after = (await stored()).chapters ?? [];
  assertEquals([after[0]?.motto, after[1]?.motto?.name], [undefined, "o"]);
  assertEquals((await motto.delete()).status, 204);
  assertEquals(Object.keys((await stored()).chapters?.[1] ?? {}).includes("motto"), false);
});

test("embedded arrays and single documents work inside a single embedded document", async () => {
  await using app = await mount([Book]);
  const book = await putTwo(app);
  assertEquals((await book.post("/cover/notes", { name: "a" })).status, 404);
  await book.post("/cover", { name: "red" });
  const { body } = await book.post("/cover/notes", { name: "a" });
  assertEquals((await book.patch(`/cover/notes/${body._id}`, { name: "b" })).status, 200);
  assertEquals((await book.post("/cover/motto", { name: "m" })).status, 201);
  assertEquals((await book.patch("/cover/motto", { name: "n" })).body.name, "n");
  const after = (await book.stored()).cover;
  assertEquals([after?.name, after?.notes?.[0]?.name, after?.motto?.name], ["red", "b", "n"]);
  assertEquals((await book.delete("/cover/motto")).status, 204);
  assertEquals((await book.delete(`/cover/notes/${body._id}`)).status, 204);
  assertEquals(await namesAt(`${book.url}/cover/notes`), "");
});

test("a reference works inside an embedded array, and belongs to its element", async () => {
  await using app = await mount([Book]);
  const { first, second, stored, ...book } = await putTwo(app);
  const editor = client(`${book.url}${second}/editor`);
  const added = await editor.post("", { name: "W" });
  assertEquals([added.status, added.headers.get("location")], [201, new URL(editor.url).pathname]);
  assertEquals((await editor.post("", { name: "V" })).status, 409);
  assertEquals((await editor.get<EntityBody>()).body, added.body);
  assertEquals((await book.get(`${first}/editor`)).status, 404);
  assertEquals(String((await stored()).chapters?.[1]?.editor), added.body._id);
  assertEquals((await editor.patch("", { name: "X" })).body.name, "X");
  assertEquals((await editor.delete()).status, 204);
  assertEquals((await stored()).chapters?.[1]?.editor, undefined);
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("an embedded array works inside a reference, in the collection of the reference", async () => {
  await using app = await mount([Book]);
  const book = await putTwo(app);
  const author = (await book.post("/authors", { name: "W" })).body;
  const stranger = await getModel(Author).create({ name: "S" });
  const before = await book.stored();
  const url = `/authors/${author._id}/notes`;
  const note = (await book.post(url, { name: "a" })).body;
  assertEquals((await book.patch(`${url}/${note._id}`, { name: "b" })).body.name, "b");
  assertEquals((await book.post(`/authors/${stranger._id}/notes`, { name: "x" })).status, 404);
  const after = await getModel(Author).findById(author._id);
  assertEquals([namesOf(after?.notes), after?.__v], [["b"], 2]);
  assertEquals(await book.stored(), before);
});

test("three levels down, an embedded array works inside a reference of an element", async () => {
  await using app = await mount([Book]);
  const { second, ...book } = await putTwo(app);
  await book.post(`${second}/editor`, { name: "W" });
  const { body, status } = await book.post(`${second}/editor/notes`, { name: "a" });
  assertEquals(status, 201);
  const item = `${second}/editor/notes/${body._id}`;
  assertEquals((await book.get(item)).body, { _id: body._id, name: "a" });
  assertEquals((await book.patch(item, { name: "b" })).body.name, "b");
  assertEquals((await getModel(Author).findOne())?.notes?.[0]?.name, "b");
  assertEquals((await book.delete(item)).status, 204);
  assertEquals(await namesAt(`${book.url}${second}/editor/notes`), "");
});

test("the parameters of nested routes are named by their depth", async () => {
  const seen: Record<string, unknown>[] = [];
  const look = (req: FrameworkRequest) => seen.push({ ...req.params }) > 0;
  class Leaf extends FrameworkModel {
    @prop()
    text?: string;
  }
  class Twig extends FrameworkModel {
    @rest({ methods: [one({ preFetch: look })] })
    @arrayProp({ items: Leaf, embedded: true })
    leaves?: Leaf[];
  }
  class Branch extends FrameworkModel {
    @rest({ methods: [one()] })
    @arrayProp({ items: Twig, embedded: true })
    twigs?: Twig[];
  }
  @rest({ route: "/trees", methods: [one()] })
  class Tree extends FrameworkModel {
    @rest({ methods: [one()] })
    @arrayProp({ items: Branch, embedded: true })
    branches?: Branch[];
  }
  await using app = await mount([Tree]);
  await app.get(`/trees/1/branches/2/twigs/3/leaves/4`);
  assertEquals(seen, [{ id: "1", subId: "2", subId2: "3", subId3: "4" }]);
});

class D extends FrameworkModel {
  @prop()
  text?: string;
}

class C extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: D, embedded: true })
  ds?: D[];
}

class B extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: C, embedded: true })
  cs?: C[];
}

@rest({ route: "/as", methods: [one(), create()] })
class A extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: B, embedded: true })
  bs?: B[];
}

test("update() of four levels of embedded arrays changes one element of one array", async () => {
  await using app = await mount([A]);
  const c = { ds: [{ text: "m" }, { text: "m" }] };
  const { body } = await app.post(`/as`, { bs: [{ cs: [c, c] }, { cs: [c, c] }] });
  const { bs } = body as unknown as A;
  const [b, inner, leaf] = [bs?.[1], bs?.[1]?.cs?.[0], bs?.[1]?.cs?.[0]?.ds?.[1]];
  const url = `/as/${body._id}/bs/${b?._id}/cs/${inner?._id}/ds/${leaf?._id}`;
  const leaves = async () => {
    const { text } = await app.get(`/as/${body._id}`);
    return text.match(/[mY]/g)?.join("");
  };
  assertEquals((await app.patch(url, { text: "Y" })).status, 200);
  assertEquals(await leaves(), "mmmmmYmm");
  assertEquals((await app.delete(url)).status, 204);
  assertEquals(await leaves(), "mmmmmmm");
});

@rest({ route: "/films", methods: SIX })
class Film extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: () => Player })
  players?: string[];
}

@rest({ route: "/players", methods: SIX })
class Player extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: () => Film })
  films?: string[];
}

test("a cycle of references is entered once on each way, and both ways work", async () => {
  await using app = await mount([Film, Player]);
  const film = (await app.post(`/films`, { name: "F" })).body;
  const player = (await app.post(`/films/${film._id}/players`, { name: "P" })).body;
  const below = `/films/${film._id}/players/${player._id}/films`;
  const second = await app.post(below, { name: "G" });
  assertEquals(second.status, 201);
  assertEquals(await namesAt(`${app.url}${below}`), "G");
  assertEquals(await namesAt(`${app.url}/players/${player._id}/films`), "G");
  const deeper = await app.get(`${below}/${second.body._id}/players`);
  assert(deeper.status === 404 && deeper.text.includes("Cannot GET"));
  assertEquals((await app.delete(`${below}/${film._id}`)).status, 404);
  assertEquals(await getModel(Film).countDocuments(), 2);
});

@rest({ route: "/sections", methods: SIX })
class Section extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: () => Section, embedded: true })
  parts?: Section[];
}

test("a model that embeds itself has routes for its first level, and holds any", async () => {
  await using app = await mount([Section]);
  const parts = [{ name: "B", parts: [{ name: "C" }] }];
  const root = (await app.post(`/sections`, { name: "A", parts })).body;
  const url = `/sections/${root._id}/parts`;
  const added = await app.post(url, { name: "D", parts: [{ name: "E", parts: [{ name: "F" }] }] });
  assertEquals(added.status, 201);
  assertEquals((await app.patch(`${url}/${added.body._id}`, { name: "G" })).body.name, "G");
  assertEquals(await namesAt(`${app.url}${url}${asQuery({ "parts.parts.name": "F" })}`), "G");
  const deeper = await app.get(`${url}/${added.body._id}/parts`);
  assert(deeper.status === 404 && deeper.text.includes("Cannot GET"));
  assertEquals((await getModel(Section).findOne())?.parts?.[1]?.parts?.[0]?.parts?.[0]?.name, "F");
});

@rest({ route: "/people", methods: SIX })
class Person extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: () => Person })
  friends?: string[];
  @rest({ methods: FOUR })
  @prop({ ref: () => Person })
  partner?: string;
}

test("a model that refers to itself has each property once on every way", async () => {
  await using app = await mount([Person]);
  const a = (await app.post(`/people`, { name: "A" })).body;
  const friend = (await app.post(`/people/${a._id}/friends`, { name: "B" })).body;
  const url = `/people/${a._id}/friends/${friend._id}/partner`;
  assertEquals((await app.post(url, { name: "C" })).status, 201);
  assertEquals((await app.post(`/people/${a._id}/partner`, { name: "D" })).status, 201);
  const below = `/people/${a._id}/partner/friends`;
  assertEquals((await app.post(below, { name: "E" })).status, 201);
  assertEquals(await getModel(Person).countDocuments(), 5);
  assertEquals((await app.get(`${url}/partner`)).text.includes("Cannot GET"), true);
});

@rest({ route: "/ones", methods: SIX })
class One extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: () => Two })
  twos?: string[];
  @rest({ methods: SIX })
  @arrayProp({ items: () => Three })
  threes?: string[];
}

@rest({ route: "/twos", methods: SIX })
class Two extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: () => One })
  ones?: string[];
  @rest({ methods: SIX })
  @arrayProp({ items: () => Three })
  threes?: string[];
}

@rest({ route: "/threes", methods: SIX })
class Three extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: () => One })
  ones?: string[];
  @rest({ methods: SIX })
  @arrayProp({ items: () => Two })
  twos?: string[];
}

test("initialize() enters a property once on a way, so that models may refer to each other", () => {
  const routes = Framework.initialize({ models: [One, Two, Three] }).describe();
  const paths = new Set(routes.map(({ path }) => path));
  const requests = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const levels = [...paths].map((path) =>
    path.split("/").filter((each) => /^\w/.test(each)).length
  );
  assertEquals([paths.size, Math.max(...levels)], [routes.length / 3, 7]);
  assertEquals(requests.size, routes.length);
  assert(paths.has("/ones/:id/twos/:subId/ones/:subId2/threes/:subId3/ones"));
});
