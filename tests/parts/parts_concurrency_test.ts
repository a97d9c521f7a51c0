import { assertEquals } from "@std/assert";
import { getModel } from "../../mod.ts";
import { Author, Book, putBook } from "../fixtures/library.ts";
import { test } from "../harness/testing.ts";
import { idsOf, namesOf } from "../support/names.ts";
import { type EntityBody, mount } from "../support/support.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Stores a book with as many chapters. */
function putChapters(app: { readonly url: string }, count: number) {
  return putBook(app, { chapters: numbers(count).map((number) => ({ name: `b${number}` })) });
}

/** Sends requests at once, and gives how often each status came. */
async function atOnce(runs: Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(runs)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test("60 creates of embedded documents at once all survive", async () => {
  await using app = await mount([Book]);
  const { post, stored } = await putBook(app);
  const names = numbers(60).map((number) => `n${number}`).sort();
  assertEquals(await atOnce(names.map((name) => post("/chapters", { name }))), { 201: 60 });
  const { chapters, __v } = await stored();
  assertEquals([namesOf(chapters).sort(), __v], [names, 60]);
});

test("60 creates of references at once all survive, none twice, none without its parent", async () => {
  await using app = await mount([Book]);
  const { post, stored } = await putBook(app);
  const names = numbers(60).map((number) => `n${number}`).sort();
  assertEquals(await atOnce(names.map((name) => post("/authors", { name }))), { 201: 60 });
  const authors = await getModel(Author).find();
  assertEquals(namesOf(authors).sort(), names);
  assertEquals((await stored()).authors?.map(String).sort(), idsOf(authors).sort());
});

test("creates in nested arrays of one document at once all survive", async () => {
  await using app = await mount([Book]);
  const { ids, post, stored } = await putChapters(app, 3);
  const runs = numbers(60).map((number) => {
    const kind = number % 2 === 0 ? "notes" : "authors";
    return post(`/chapters/${ids[number % 3]}/${kind}`, { name: `n${number}` });
  });
  assertEquals(await atOnce(runs), { 201: 60 });
  const { chapters = [] } = await stored();
  const even = numbers(60).filter((number) => number % 2 === 0);
  assertEquals(
    chapters.flatMap(({ notes }) => namesOf(notes)).sort(),
    even.map((number) => `n${number}`).sort(),
  );
  const counts = chapters.map(({ notes, authors }) => [notes?.length, authors?.length]);
  assertEquals(counts, [[10, 10], [10, 10], [10, 10]]);
});

test("creates, and updates of the parent, at once: nothing is lost", async () => {
  await using app = await mount([Book]);
  const { post, patch, stored } = await putBook(app);
  const runs = numbers(75).map((number) => {
    if (number % 3 === 0) return post("/chapters", { name: `b${number}` });
    if (number % 3 === 1) return post("/authors", { name: `a${number}` });
    return patch("", number % 2 === 0 ? { name: `p${number}` } : { year: number });
  });
  assertEquals(await atOnce(runs), { 200: 25, 201: 50 });
  const { chapters, authors, name, year, __v } = await stored();
  assertEquals([chapters?.length, authors?.length, __v], [25, 25, 75]);
  assertEquals([/^p\d+$/.test(name), typeof year], [true, "number"]);
  assertEquals(new Set(namesOf(chapters)).size, 25);
});

test("updates of different elements, and of different fields of one, at once all survive", async () => {
  await using app = await mount([Book]);
  const { ids, patch, stored } = await putChapters(app, 20);
  const runs = ids.flatMap((id, index) => [
    patch(`/chapters/${id}`, { name: `n${index}` }),
    patch(`/chapters/${id}`, { blurb: `t${index}` }),
    patch(`/chapters/${id}`, { pages: index + 1 }),
  ]);
  assertEquals(await atOnce(runs), { 200: 60 });
  const { chapters = [], __v } = await stored();
  const found = chapters.map(({ name, blurb, pages }) => `${name} ${blurb} ${pages}`);
  assertEquals(found, numbers(20).map((index) => `n${index} t${index} ${index + 1}`));
  assertEquals(__v, 60);
});

test("creates, updates and removes of elements at once hit what they name, and only that", async () => {
  await using app = await mount([Book]);
  const book = await putChapters(app, 40);
  const runs = book.ids.flatMap((id, index) => [
    index % 2 === 0
      ? book.delete(`/chapters/${id}`)
      : book.patch(`/chapters/${id}`, { pages: index }),
    book.post("/chapters", { name: `new${index}` }),
  ]);
  assertEquals(await atOnce(runs), { 200: 20, 201: 40, 204: 20 });
  const { chapters = [] } = await book.stored();
  const odd = numbers(40).filter((index) => index % 2 === 1);
  const kept = chapters.filter(({ name }) => name.startsWith("b"));
  assertEquals(kept.map(({ name, pages }) => `${name} ${pages}`), odd.map((n) => `b${n} ${n}`));
  assertEquals(chapters.length, 20 + 40);
});

test("creates and removes of references at once leave neither orphans nor dangling ids", async () => {
  await using app = await mount([Book]);
  const book = await putBook(app);
  const add = (name: string) => book.post("/authors", { name });
  const made = await Promise.all(numbers(30).map((number) => add(`o${number}`)));
  const runs = made.flatMap(({ body }, number) => [
    book.delete(`/authors/${body._id}`),
    add(`n${number}`),
  ]);
  assertEquals(await atOnce(runs), { 201: 30, 204: 30 });
  const authors = await getModel(Author).find();
  assertEquals(new Set(namesOf(authors)).size, 30);
  assertEquals((await book.stored()).authors?.map(String).sort(), idsOf(authors).sort());
});

test("of 50 removes of one element, or of one reference, one succeeds", async () => {
  await using app = await mount([Book]);
  const book = await putChapters(app, 2);
  const author = await book.created("/authors", { name: "A" });
  for (const path of [`/chapters/${book.ids[0]}`, `/authors/${author._id}`]) {
    const counts = await atOnce(numbers(50).map(() => book.delete(path)));
    assertEquals([path, counts[204], (counts[404] ?? 0) + (counts[409] ?? 0)], [path, 1, 49]);
  }
  const { chapters, authors } = await book.stored();
  assertEquals([namesOf(chapters), authors], [["b1"], []]);
  assertEquals(await getModel(Author).countDocuments(), 0);
});

test("of 50 creates of a single part one succeeds, the others are 409 and leave nothing", async () => {
  await using app = await mount([Book]);
  const { get, post, stored } = await putBook(app);
  for (const part of ["/cover", "/owner"]) {
    const runs = numbers(50).map((number) => post(part, { name: `n${number}` }));
    assertEquals(await atOnce(runs), { 201: 1, 409: 49 });
  }
  const [owner, ...others] = await getModel(Author).find();
  assertEquals([String((await stored()).owner), others], [String(owner?._id), []]);
  assertEquals((await get<EntityBody>("/owner")).body.name, owner?.name);
});

test("a create below a parent that is removed meanwhile is 404 or 409 and leaves nothing", async () => {
  await using app = await mount([Book]);
  const { id, post } = await putBook(app);
  const runs = numbers(50).map(async (number) => {
    if (number === 25) await getModel(Book).deleteOne({ _id: id });
    return await post("/authors", { name: `n${number}` });
  });
  const counts = await atOnce(runs);
  const { 201: made = 0, 404: missed = 0, 409: late = 0 } = counts;
  assertEquals(made + missed + late, 50);
  assertEquals(await getModel(Author).countDocuments(), made);
});
