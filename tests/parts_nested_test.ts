import { assert, assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
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
import { buildRoutes } from "../src/http/routes/build_routes.ts";
import { Reporter } from "../src/pipeline/request/reporter.ts";
import { completeBodyLimits } from "../src/write/body/limits.ts";
import { completeLimits } from "../src/filter/q/limits.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, mount, NOBODY } from "./support.ts";

const SIX = [all(), one(), create(), update(), remove(), removeAll()];
const FOUR = [one(), create(), update(), remove()];

class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

class Writer extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

class Chapter extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ type: Number })
  pages?: number;
  @rest({ methods: SIX })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
  @rest({ methods: FOUR })
  @prop({ type: Note })
  motto?: Note;
  @rest({ methods: FOUR })
  @prop({ ref: Writer })
  writer?: Ref<Writer>;
}

class Cover extends FrameworkModel {
  @prop()
  color?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
  @rest({ methods: FOUR })
  @prop({ type: Note })
  motto?: Note;
}

@rest({ route: "/books", methods: [one(), update()] })
class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Chapter, embedded: true })
  chapters?: Chapter[];
  @rest({ methods: FOUR })
  @prop({ type: Cover })
  cover?: Cover;
  @rest({ methods: SIX })
  @arrayProp({ items: Writer })
  writers?: Ref<Writer>[];
}

const post = (url: string, body: unknown) => request<EntityBody>(url, { method: "POST", body });
const patch = (url: string, body: unknown) => request<EntityBody>(url, { method: "PATCH", body });
const erase = (url: string) => request(url, { method: "DELETE" });

async function listAt(url: string, field: string): Promise<string> {
  const { body } = await request<EntityBody[]>(url);
  return body.map((each) => each[field]).sort().join("");
}

/** Stores a book with two chapters of two notes each. */
async function putBook(url: string) {
  const notes = (...texts: string[]) => texts.map((text) => ({ text }));
  const book = await getModel(Book).create({
    title: "A",
    chapters: [{ title: "1", notes: notes("a", "b") }, { title: "2", notes: notes("c", "d") }],
  } as never) as Book;
  const [first, second] = book.chapters as [Chapter, Chapter];
  const at = `${url}/books/${book._id}`;
  return { book, first, second, at, chapters: `${at}/chapters` };
}

async function stored({ _id }: Book): Promise<Book> {
  return await getModel(Book).collection.findOne({ _id }) as unknown as Book;
}

function textsOf(book: Book): string[] {
  return (book.chapters ?? []).map(({ notes }) => (notes ?? []).map(({ text }) => text).join(""));
}

test("every operation works on an embedded array inside an embedded array", async () => {
  await using app = await mount([Book]);
  const { book, second, chapters } = await putBook(app.url);
  const url = `${chapters}/${second._id}/notes`;
  const added = await post(url, { text: "e" });
  assertEquals(added.status, 201);
  const item = `${url}/${added.body._id}`;
  assertEquals(added.headers.get("location"), new URL(item).pathname);
  assertEquals((await patch(item, { text: "f" })).body.text, "f");
  assertEquals((await request<EntityBody>(item)).body.text, "f");
  assertEquals(await listAt(url, "text"), "cdf");
  assertEquals(await listAt(`${url}${asQuery({ text: { $ne: "c" } })}`, "text"), "df");
  assertEquals(textsOf(await stored(book)), ["ab", "cdf"]);
  assertEquals((await erase(item)).status, 204);
  assertEquals((await erase(`${url}${asQuery({ text: "c" })}`)).status, 204);
  assertEquals(textsOf(await stored(book)), ["ab", "d"]);
  assertEquals([(await erase(url)).status, textsOf(await stored(book))], [204, ["ab", ""]]);
  assertEquals((await stored(book)).__v, 5);
});

test("an element of a nested array is 404 under any parent but its own", async () => {
  await using app = await mount([Book]);
  const { book, first, second, chapters } = await putBook(app.url);
  const other = await putBook(app.url);
  const [note] = second.notes ?? [];
  const wrong = [
    `${chapters}/${first._id}/notes/${note?._id}`,
    `${other.chapters}/${second._id}/notes/${note?._id}`,
    `${other.chapters}/${other.second._id}/notes/${note?._id}`,
    `${chapters}/${NOBODY}/notes/${note?._id}`,
  ];
  for (const url of wrong) {
    const found = [await request(url), await patch(url, { text: "x" }), await erase(url)];
    assertEquals([url, ...found.map(({ status }) => status)], [url, 404, 404, 404]);
  }
  for (const url of [`${chapters}/${NOBODY}/notes`, `${other.chapters}/${second._id}/notes`]) {
    assertEquals([(await post(url, { text: "x" })).status, (await erase(url)).status], [404, 404]);
  }
  assertEquals(textsOf(await stored(book)), ["ab", "cd"]);
  assertEquals(textsOf(await stored(other.book)), ["ab", "cd"]);
});

test("a single embedded document works inside an embedded array", async () => {
  await using app = await mount([Book]);
  const { book, second, chapters } = await putBook(app.url);
  const url = `${chapters}/${second._id}/motto`;
  assertEquals((await request(url)).status, 404);
  const added = await post(url, { text: "m" });
  assertEquals([added.status, added.headers.get("location")], [201, new URL(url).pathname]);
  assertEquals((await post(url, { text: "n" })).status, 409);
  assertEquals((await patch(url, { text: "o" })).body.text, "o");
  const after = (await stored(book)).chapters ?? [];
  assertEquals([after[0]?.motto, after[1]?.motto?.text], [undefined, "o"]);
  assertEquals((await erase(url)).status, 204);
  assertEquals(Object.keys((await stored(book)).chapters?.[1] ?? {}).includes("motto"), false);
});

test("embedded arrays and single documents work inside a single embedded document", async () => {
  await using app = await mount([Book]);
  const { book, at } = await putBook(app.url);
  const cover = `${at}/cover`;
  assertEquals((await post(`${cover}/notes`, { text: "a" })).status, 404);
  await post(cover, { color: "red" });
  const { body } = await post(`${cover}/notes`, { text: "a" });
  assertEquals((await patch(`${cover}/notes/${body._id}`, { text: "b" })).status, 200);
  assertEquals((await post(`${cover}/motto`, { text: "m" })).status, 201);
  assertEquals((await patch(`${cover}/motto`, { text: "n" })).body.text, "n");
  const after = (await stored(book)).cover;
  assertEquals([after?.color, after?.notes?.[0]?.text, after?.motto?.text], ["red", "b", "n"]);
  assertEquals((await erase(`${cover}/motto`)).status, 204);
  assertEquals((await erase(`${cover}/notes/${body._id}`)).status, 204);
  assertEquals(await listAt(`${cover}/notes`, "text"), "");
});

test("a reference works inside an embedded array, and belongs to its element", async () => {
  await using app = await mount([Book]);
  const { book, first, second, chapters } = await putBook(app.url);
  const url = `${chapters}/${second._id}/writer`;
  const added = await post(url, { name: "W" });
  assertEquals([added.status, added.headers.get("location")], [201, new URL(url).pathname]);
  assertEquals((await post(url, { name: "V" })).status, 409);
  assertEquals((await request<EntityBody>(url)).body, added.body);
  assertEquals((await request(`${chapters}/${first._id}/writer`)).status, 404);
  assertEquals(String((await stored(book)).chapters?.[1]?.writer), added.body._id);
  assertEquals((await patch(url, { name: "X" })).body.name, "X");
  assertEquals((await erase(url)).status, 204);
  assertEquals((await stored(book)).chapters?.[1]?.writer, undefined);
  assertEquals(await getModel(Writer).countDocuments(), 0);
});

test("an embedded array works inside a reference, in the collection of the reference", async () => {
  await using app = await mount([Book]);
  const { book, at } = await putBook(app.url);
  const writer = (await post(`${at}/writers`, { name: "W" })).body;
  const stranger = await getModel(Writer).create({ name: "S" });
  const before = await stored(book);
  const url = `${at}/writers/${writer._id}/notes`;
  const note = (await post(url, { text: "a" })).body;
  assertEquals((await patch(`${url}/${note._id}`, { text: "b" })).body.text, "b");
  assertEquals((await post(`${at}/writers/${stranger._id}/notes`, { text: "x" })).status, 404);
  const after = await getModel(Writer).findById(writer._id);
  assertEquals([after?.notes?.map(({ text }) => text), after?.__v], [["b"], 2]);
  assertEquals(await stored(book), before);
});

test("three levels down, an embedded array works inside a reference of an element", async () => {
  await using app = await mount([Book]);
  const { second, chapters } = await putBook(app.url);
  const writer = `${chapters}/${second._id}/writer`;
  await post(writer, { name: "W" });
  const { body, status } = await post(`${writer}/notes`, { text: "a" });
  assertEquals(status, 201);
  const item = `${writer}/notes/${body._id}`;
  assertEquals((await request<EntityBody>(item)).body, { _id: body._id, text: "a" } as never);
  assertEquals((await patch(item, { text: "b" })).body.text, "b");
  assertEquals((await getModel(Writer).findOne())?.notes?.[0]?.text, "b");
  assertEquals([(await erase(item)).status, await listAt(`${writer}/notes`, "text")], [204, ""]);
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
  await request(`${app.url}/trees/1/branches/2/twigs/3/leaves/4`);
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
  const { body } = await post(`${app.url}/as`, { bs: [{ cs: [c, c] }, { cs: [c, c] }] });
  const { bs } = body as unknown as A;
  const [b, inner, leaf] = [bs?.[1], bs?.[1]?.cs?.[0], bs?.[1]?.cs?.[0]?.ds?.[1]];
  const url = `${app.url}/as/${body._id}/bs/${b?._id}/cs/${inner?._id}/ds/${leaf?._id}`;
  const leaves = async () => {
    const { text } = await request(`${app.url}/as/${body._id}`);
    return text.match(/[mY]/g)?.join("");
  };
  assertEquals((await patch(url, { text: "Y" })).status, 200);
  assertEquals(await leaves(), "mmmmmYmm");
  assertEquals((await erase(url)).status, 204);
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
  const film = (await post(`${app.url}/films`, { name: "F" })).body;
  const player = (await post(`${app.url}/films/${film._id}/players`, { name: "P" })).body;
  const below = `${app.url}/films/${film._id}/players/${player._id}/films`;
  const second = await post(below, { name: "G" });
  assertEquals(second.status, 201);
  assertEquals(await listAt(below, "name"), "G");
  assertEquals(await listAt(`${app.url}/players/${player._id}/films`, "name"), "G");
  const deeper = await request(`${below}/${second.body._id}/players`);
  assert(deeper.status === 404 && deeper.text.includes("Cannot GET"));
  assertEquals((await erase(`${below}/${film._id}`)).status, 404);
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
  const root = (await post(`${app.url}/sections`, { name: "A", parts })).body;
  const url = `${app.url}/sections/${root._id}/parts`;
  const added = await post(url, { name: "D", parts: [{ name: "E", parts: [{ name: "F" }] }] });
  assertEquals(added.status, 201);
  assertEquals((await patch(`${url}/${added.body._id}`, { name: "G" })).body.name, "G");
  assertEquals(await listAt(`${url}${asQuery({ "parts.parts.name": "F" })}`, "name"), "G");
  const deeper = await request(`${url}/${added.body._id}/parts`);
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
  const a = (await post(`${app.url}/people`, { name: "A" })).body;
  const friend = (await post(`${app.url}/people/${a._id}/friends`, { name: "B" })).body;
  const url = `${app.url}/people/${a._id}/friends/${friend._id}/partner`;
  assertEquals((await post(url, { name: "C" })).status, 201);
  assertEquals((await post(`${app.url}/people/${a._id}/partner`, { name: "D" })).status, 201);
  const below = `${app.url}/people/${a._id}/partner/friends`;
  assertEquals((await post(below, { name: "E" })).status, 201);
  assertEquals(await getModel(Person).countDocuments(), 5);
  assertEquals((await request(`${url}/partner`)).text.includes("Cannot GET"), true);
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
  const routes = buildRoutes([One, Two, Three], {
    maxTimeMS: 1000,
    limits: completeLimits(),
    bodyLimits: completeBodyLimits(),
    reporter: new Reporter(),
  });
  const paths = new Set(routes.map(({ path }) => path));
  assertEquals([paths.size * 3, routes.every(({ levels }) => levels.length <= 7)], [
    routes.length,
    true,
  ]);
  assert(paths.has("/ones/:id/twos/:subId/ones/:subId2/threes/:subId3/ones"));
  Framework.initialize({ models: [One, Two, Three] });
});
