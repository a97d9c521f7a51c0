import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError, etagOf } from "@mongrove/mongrove/client";
import { test } from "../harness/testing.ts";
import { NOBODY } from "../support/support.ts";
import { openStudio } from "./studio.ts";

/** Runs a call that must be refused, and gives its error. */
function refused(call: Promise<unknown>): Promise<ApiError> {
  return assertRejects(() => call, ApiError);
}

test("create(), one(), update() and remove() work on an entity", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const made = await films.create({ name: "Alien", year: 1979, budget: "11 million" });
  assertEquals([made.name, made.year, made.owner, made.__v], ["Alien", 1979, "studio", 0]);
  assertEquals(await films.one(made._id), made);
  const changed = await films.update(made._id, { year: null, name: "Aliens" });
  assertEquals([changed.name, changed.year, changed.__v], ["Aliens", undefined, 1]);
  assertEquals(await films.remove(made._id), undefined);
  assertEquals((await refused(films.one(made._id))).code, "NOT_FOUND");
});

test("all() gives pages, totals, and what select leaves", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  for (const name of ["A", "B", "C"]) await films.create({ name, year: 1970 });
  const first = await films.all({ select: ["name"], sort: ["-name"], limit: 2, count: true });
  assertEquals(first.items.map((film) => Object.keys(film)), [["_id", "name"], ["_id", "name"]]);
  assertEquals([first.items.map(({ name }) => name), first.total], [["C", "B"], 3]);
  assert(first.next);
  const second = await films.all({ select: ["name"], count: true, next: first.next });
  assertEquals([second.items.map(({ name }) => name), second.next], [["A"], undefined]);
  assertEquals(second.total, 3);
  assertEquals((await films.all({ skip: 2, limit: 1 })).items.map(({ name }) => name), ["C"]);
  assertEquals((await films.all()).total, undefined);
});

test("all() has no total where the server does not count to the end", async () => {
  await using studio = await openStudio();
  for (const name of "ABCDEF") await studio.films.create({ name });
  assertEquals((await studio.films.all({ count: true })).total, undefined);
});

test("all() sends q, search and after, and dates in q", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const [a, b] = [
    await films.create({ name: "A", year: 1 }),
    await films.create({ name: "B & C" }),
  ];
  const names = async (...[options]: Parameters<typeof films.all>) =>
    (await films.all(options)).items.map(({ name }) => name);
  assertEquals(await names({ q: { year: { $gte: 1 } } }), ["A"]);
  assertEquals(await names({ q: { createdAt: { $lte: new Date(0) } } }), []);
  assertEquals(await names({ q: { name: "B & C", year: null } }), ["B & C"]);
  assertEquals(await names({ search: "& c" }), ["B & C"]);
  assertEquals(await names({ after: a._id }), [b.name]);
});

test("each() gives the entities of all pages, and stops when its reader does", async () => {
  let requests = 0;
  const fetch = (url: string, init: RequestInit) => ++requests && globalThis.fetch(url, init);
  await using studio = await openStudio({ fetch: fetch as typeof globalThis.fetch });
  for (const name of "ABCDE") await studio.films.create({ name });
  requests = 0;
  const names = await Array.fromAsync(studio.films.each({ sort: ["-name"] }), ({ name }) => name);
  assertEquals([names.join(""), requests], ["EDCBA", 3]);
  for await (const _film of studio.films.each()) break;
  assertEquals(requests, 4);
});

test("revive makes dates of the named fields, and of no other", async () => {
  await using studio = await openStudio();
  const { films, people } = studio;
  const { _id } = await films.create({ name: "A" });
  const film = await films.one(_id, { revive: ["createdAt"] });
  assert(film.createdAt instanceof Date);
  assertEquals([film.createdAt.toJSON(), typeof film.updatedAt], [
    ...[(await films.one(_id)).createdAt, "string"],
  ]);
  const { items: [listed] } = await films.all({ select: ["createdAt"], revive: ["createdAt"] });
  assertEquals(listed?.createdAt, film.createdAt);
  const born = new Date(0);
  const person = await people.create({ name: "P", born }, { revive: ["born"] });
  assertEquals(person.born, born);
  assertEquals("born" in await people.create({ name: "Q" }, { revive: ["born"] }), false);
});

test("populate gives entities in the place of identifiers", async () => {
  await using studio = await openStudio();
  const { films, people } = studio;
  const [p, q] = [await people.create({ name: "P" }), await people.create({ name: "Q" })];
  const { _id } = await films.create({ name: "A", director: p._id, cast: [p._id, q._id] });
  const film = await films.one(_id, { populate: { director: ["name"], cast: true } });
  assertEquals(film.director, { _id: p._id, name: "P" });
  assertEquals(film.cast?.map(({ name, __v }) => [name, __v]), [["P", 0], ["Q", 0]]);
  await people.remove(p._id);
  const { items: [left] } = await films.all({ populate: ["director", "cast"] });
  assertEquals([left?.director, left?.cast?.map(({ name }) => name)], [null, ["Q"]]);
});

test("errors have the status, the code, the message and the errors of fields", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const missing = await refused(films.one(NOBODY));
  assertEquals([missing.status, missing.code, missing.errors], [404, "NOT_FOUND", {}]);
  assertEquals((missing.body as { message: string }).message, missing.message);
  assertEquals([missing.name, missing instanceof Error], ["ApiError", true]);
  const wrong = await refused(films.create({ year: "x" } as never));
  assertEquals([wrong.status, wrong.code], [400, "BAD_DATA"]);
  assertEquals(Object.keys(wrong.errors).sort(), ["name", "year"]);
  assertEquals(wrong.errors.name?.kind, "required");
});

test("removeAll() removes what its filter selects", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  for (const name of "AAB") await films.create({ name });
  await films.removeAll({ q: { name: "A" } });
  assertEquals((await films.all()).items.map(({ name }) => name), ["B"]);
  await films.removeAll({ q: {} });
  assertEquals((await films.all()).items, []);
});

test("headers come from an object, from a function before each request, and from a call", async () => {
  let key = "";
  await using studio = await openStudio({
    headers: () => Promise.resolve({ authorization: key, "x-guarded": "1" }),
  });
  const { films } = studio;
  assertEquals((await refused(films.all())).status, 403);
  key = "key";
  assertEquals((await films.all()).items, []);
  assertEquals((await refused(films.all({ headers: { Authorization: "no" } }))).status, 403);
});

test("parameters reach the server, and undeclared ones are its to refuse", async () => {
  await using studio = await openStudio();
  const options = { q: {}, parameters: { ids: "1,2" } };
  const error = await refused(studio.films.removeAll(options));
  assertEquals([error.code, (error.body as { parameter: string }).parameter], [
    ...["BAD_FORMAT", "ids"],
  ]);
});

for (const id of ["", ".", "..", undefined]) {
  test(`an identifier that is ${JSON.stringify(id)} is refused, and nothing is sent`, async () => {
    await using studio = await openStudio();
    const { films } = studio;
    const { _id } = await films.create({ name: "A", reviews: [{ text: "a" }] });
    const wrong = id as string;
    const reviews = films.part("reviews", _id);
    const calls = [
      ...[() => films.one(wrong), () => films.update(wrong, {}), () => films.remove(wrong)],
      ...[() => reviews.update(wrong, {}), () => reviews.remove(wrong)],
    ];
    for (const call of calls) await assertRejects(call, TypeError, "is no identifier");
    assertEquals((await films.one(_id)).reviews?.length, 1);
  });
}

test("an identifier is one segment of the path", async () => {
  await using studio = await openStudio();
  await studio.films.create({ name: "A" });
  for (const id of ["a/../..", "?q={}", "%2e%2e", "../people"]) {
    assertEquals((await refused(studio.films.remove(id))).status, 404);
  }
  assertEquals((await studio.films.all()).items.length, 1);
});

test("etagOf() knows the tag of each answer with one entity", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const made = await films.create({ name: "A" });
  assertEquals(etagOf(made)?.slice(0, 3), '"0.');
  assertEquals(etagOf(await films.one(made._id)), etagOf(made));
  assertEquals(etagOf(await films.update(made._id, { name: "B" }))?.slice(0, 3), '"1.');
  assertEquals(etagOf({ ...made }), undefined);
});
