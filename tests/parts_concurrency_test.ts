import { assertEquals } from "@std/assert";
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
import { type EntityBody, mount } from "./support.ts";

const SIX = [all(), one(), create(), update(), remove(), removeAll()];
const FOUR = [one(), create(), update(), remove()];

class Author extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

class Chapter extends FrameworkModel {
  @prop()
  name?: string;
}

class Book extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  blurb?: string;
  @prop({ type: Number })
  pages?: number;
  @rest({ methods: SIX })
  @arrayProp({ items: Chapter, embedded: true })
  chapters?: Chapter[];
  @rest({ methods: SIX })
  @arrayProp({ items: Author })
  authors?: Ref<Author>[];
}

@rest({ route: "/shelves", methods: [one(), update()] })
class Shelf extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  width?: number;
  @rest({ methods: SIX })
  @arrayProp({ items: Book, embedded: true })
  books?: Book[];
  @rest({ methods: SIX })
  @arrayProp({ items: Author })
  authors?: Ref<Author>[];
  @rest({ methods: FOUR })
  @prop({ type: Chapter })
  label?: Chapter;
  @rest({ methods: FOUR })
  @prop({ ref: Author })
  owner?: Ref<Author>;
}

/** Stores a shelf with as many books. */
async function putShelf(url: string, count = 0) {
  const books = numbers(count).map((number) => ({ name: `b${number}` }));
  const shelf = await getModel(Shelf).create({ name: "A", books } as never) as Shelf;
  const ids = (shelf.books ?? []).map(({ _id }) => String(_id));
  return { shelf, ids, at: `${url}/shelves/${shelf._id}` };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

async function stored({ _id }: Shelf): Promise<Shelf> {
  return await getModel(Shelf).collection.findOne({ _id }) as unknown as Shelf;
}

/** Sends requests at once, and gives how often each status came. */
async function atOnce(runs: Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(runs)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const post = (url: string, name: string) =>
  request<EntityBody>(url, { method: "POST", body: { name } });
const patch = (url: string, body: object) => request<EntityBody>(url, { method: "PATCH", body });
const erase = (url: string) => request(url, { method: "DELETE" });

const namesOf = (entities: { name?: string }[] = []) => entities.map(({ name }) => name).sort();

test("60 creates of embedded documents at once all survive", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  const names = numbers(60).map((number) => `n${number}`).sort();
  const counts = await atOnce(names.map((name) => post(`${at}/books`, name)));
  assertEquals(counts, { 201: 60 });
  const { books, __v } = await stored(shelf);
  assertEquals([namesOf(books), __v], [names, 60]);
});

test("60 creates of references at once all survive, none twice, none without its parent", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  const names = numbers(60).map((number) => `n${number}`).sort();
  assertEquals(await atOnce(names.map((name) => post(`${at}/authors`, name))), { 201: 60 });
  const authors = await getModel(Author).find();
  assertEquals(namesOf(authors), names);
  const ids = (await stored(shelf)).authors?.map(String).sort();
  assertEquals(ids, authors.map(({ _id }) => String(_id)).sort());
});

test("creates in nested arrays of one document at once all survive", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, 3);
  const runs = numbers(60).map((number) => {
    const kind = number % 2 === 0 ? "chapters" : "authors";
    return post(`${at}/books/${ids[number % 3]}/${kind}`, `n${number}`);
  });
  assertEquals(await atOnce(runs), { 201: 60 });
  const { books = [] } = await stored(shelf);
  const chapters = books.flatMap((book) => namesOf(book.chapters)).sort();
  const even = numbers(60).filter((number) => number % 2 === 0);
  assertEquals(chapters, even.map((number) => `n${number}`).sort());
  assertEquals(books.map((book) => [book.chapters?.length, book.authors?.length]), [
    [10, 10],
    [10, 10],
    [10, 10],
  ]);
});

test("creates, and updates of the parent, at once: nothing is lost", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  const runs = numbers(75).map((number) => {
    if (number % 3 === 0) return post(`${at}/books`, `b${number}`);
    if (number % 3 === 1) return post(`${at}/authors`, `a${number}`);
    return patch(at, number % 2 === 0 ? { name: `p${number}` } : { width: number });
  });
  assertEquals(await atOnce(runs), { 200: 25, 201: 50 });
  const { books, authors, name, width, __v } = await stored(shelf);
  assertEquals([books?.length, authors?.length, __v], [25, 25, 75]);
  assertEquals([/^p\d+$/.test(name), typeof width], [true, "number"]);
  assertEquals(new Set(namesOf(books)).size, 25);
});

test("updates of different elements, and of different fields of one, at once all survive", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, 20);
  const runs = ids.flatMap((id, index) => [
    patch(`${at}/books/${id}`, { name: `n${index}` }),
    patch(`${at}/books/${id}`, { blurb: `t${index}` }),
    patch(`${at}/books/${id}`, { pages: index }),
  ]);
  assertEquals(await atOnce(runs), { 200: 60 });
  const { books = [], __v } = await stored(shelf);
  const found = books.map(({ name, blurb, pages }) => `${name} ${blurb} ${pages}`);
  assertEquals(found, numbers(20).map((index) => `n${index} t${index} ${index}`));
  assertEquals(__v, 60);
});

test("creates, updates and removes of elements at once hit what they name, and only that", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, 40);
  const runs = ids.flatMap((id, index) => [
    index % 2 === 0 ? erase(`${at}/books/${id}`) : patch(`${at}/books/${id}`, { pages: index }),
    post(`${at}/books`, `new${index}`),
  ]);
  assertEquals(await atOnce(runs), { 200: 20, 201: 40, 204: 20 });
  const { books = [] } = await stored(shelf);
  const odd = numbers(40).filter((index) => index % 2 === 1);
  const kept = books.filter(({ name }) => name.startsWith("b"));
  assertEquals(kept.map(({ name, pages }) => `${name} ${pages}`), odd.map((n) => `b${n} ${n}`));
  assertEquals(books.length, 20 + 40);
});

test("creates and removes of references at once leave neither orphans nor dangling ids", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  const made = await Promise.all(numbers(30).map((number) => post(`${at}/authors`, `o${number}`)));
  const runs = made.flatMap(({ body }, number) => [
    erase(`${at}/authors/${body._id}`),
    post(`${at}/authors`, `n${number}`),
  ]);
  assertEquals(await atOnce(runs), { 201: 30, 204: 30 });
  const authors = await getModel(Author).find();
  assertEquals(new Set(namesOf(authors)).size, 30);
  const ids = (await stored(shelf)).authors?.map(String).sort();
  assertEquals(ids, authors.map(({ _id }) => String(_id)).sort());
});

test("of 50 removes of one element, or of one reference, one succeeds", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at, ids } = await putShelf(app.url, 2);
  const author = (await post(`${at}/authors`, "A")).body;
  for (const url of [`${at}/books/${ids[0]}`, `${at}/authors/${author._id}`]) {
    const counts = await atOnce(numbers(50).map(() => erase(url)));
    assertEquals([url, counts[204], (counts[404] ?? 0) + (counts[409] ?? 0)], [url, 1, 49]);
  }
  const { books, authors } = await stored(shelf);
  assertEquals([namesOf(books), authors], [["b1"], []]);
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("of 50 creates of a single part one succeeds, the others are 409 and leave nothing", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  for (const part of ["label", "owner"]) {
    const runs = numbers(50).map((number) => post(`${at}/${part}`, `n${number}`));
    assertEquals(await atOnce(runs), { 201: 1, 409: 49 });
  }
  const [owner, ...others] = await getModel(Author).find();
  assertEquals([String((await stored(shelf)).owner), others], [String(owner?._id), []]);
  assertEquals((await request<EntityBody>(`${at}/owner`)).body.name, owner?.name);
});

test("a create below a parent that is removed meanwhile is 404 or 409 and leaves nothing", async () => {
  await using app = await mount([Shelf]);
  const { shelf, at } = await putShelf(app.url);
  const runs = numbers(50).map(async (number) => {
    if (number === 25) await getModel(Shelf).deleteOne({ _id: shelf._id });
    return await post(`${at}/authors`, `n${number}`);
  });
  const counts = await atOnce(runs);
  const { 201: made = 0, 404: missed = 0, 409: late = 0 } = counts;
  assertEquals(made + missed + late, 50);
  assertEquals(await getModel(Author).countDocuments(), made);
});
