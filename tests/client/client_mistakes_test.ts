import { assertEquals, assertRejects } from "@std/assert";
import { connect, type NewOf, type Page, type Query } from "@mongrove/mongrove/client";
import type { Film } from "../fixtures/studio.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { openStudio } from "./studio.ts";

const id = "0123456789abcdef01234567";

/** What JavaScript, and code without strict types, may give. */
function untyped<T>(value: unknown): T {
  return value as T;
}

class Criteria {
  year = 1979;
}

const LOST: Readonly<Record<string, unknown>> = {
  Promise: Promise.resolve({ year: 1979 }),
  Map: new Map([["year", 1979]]),
  Set: new Set(["year"]),
  RegExp: /year/,
  Criteria: new Criteria(),
  URLSearchParams: new URLSearchParams("year=1979"),
  Uint8Array: new Uint8Array([1]),
  Error: new Error("year"),
  Number: Object(1979),
  undefined: Object.create({ constructor: undefined }),
  symbol: { [Symbol("gt")]: 1979 },
};

/** The places of a filter in which a value may stand, with their paths. */
const PLACES: readonly (readonly [string, (value: unknown) => object])[] = [
  ["q", (value) => value as object],
  ["q.year", (year) => ({ year })],
  ["q.year.$not.$gt", (value) => ({ year: { $not: { $gt: value } } })],
  ["q.$or.1", (value) => ({ $or: [{ year: 1 }, value] })],
  ["q.year.$in.0", (value) => ({ year: { $in: [value] } })],
];

for (const [name, value] of Object.entries(LOST)) {
  test(`a filter that JSON would empty is refused, and nothing is removed: ${name}`, async () => {
    await using studio = await openStudio();
    const { films } = studio;
    const { _id, reviews: [review] = [] } = await films.create({
      name: "A",
      reviews: [{ text: "Good" }],
    });
    const reviews = films.part("reviews", _id);
    for (const [path, put] of PLACES) {
      const options = untyped<{ q: Record<never, never> }>({ q: put(value) });
      const calls = [
        ...[() => films.removeAll(options), () => reviews.removeAll(options)],
        ...[() => films.all(options), () => films.each(options).next()],
        ...[() => films.one(_id, options), () => films.update(_id, { year: 1 }, options)],
        ...[() => films.remove(_id, options), () => films.part("place", _id).remove(options)],
      ];
      for (const call of calls) {
        await assertRejects(call, TypeError, `Cannot send ${path}: JSON has no ${name}`);
      }
    }
    const { reviews: [left] = [], year } = await films.one(_id);
    assertEquals([left, year], [review, undefined]);
  });
}

test("a filter takes what JSON can say, from other pages too", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const { _id } = await films.create({ name: "A", year: 1979 });
  const foreign = Object.setPrototypeOf({ year: 1979 }, Object.create(null));
  const bare = Object.assign(Object.create(null), { year: 1979 });
  const identifier = { toJSON: () => _id };
  for (const q of [foreign, bare, { _id: identifier }, { createdAt: { $gt: new Date(0) } }]) {
    const { items } = await films.all({ q: untyped<Query<Film>>(q) });
    assertEquals(items.map((film) => film._id), [_id]);
  }
});

test("a body that JSON would empty is refused, and one of a class is not", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  for (const name of ["Promise", "Map", "Set", "RegExp", "URLSearchParams", "Number"]) {
    for (const body of [LOST[name], { place: LOST[name] }, { cast: [LOST[name]] }]) {
      const wrong = untyped<NewOf<Film>>(body);
      await assertRejects(() => films.create(wrong), TypeError, `JSON has no ${name}`);
      await assertRejects(() => films.update(id, wrong), TypeError, `JSON has no ${name}`);
    }
  }
  assertEquals((await films.all()).items, []);
  class NewFilm {
    name = "A";
  }
  assertEquals((await films.create(new NewFilm())).name, "A");
});

test("neither next nor parameters take the place of a filter", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  for (const name of ["A", "B", "C", "D"]) await films.create({ name });
  const { next } = await films.all();
  for (const given of ["", next]) {
    const options = untyped<{ q: Query<Film> }>({ q: { name: "none" }, next: given });
    await films.removeAll(options);
    await assertRejects(() => films.one(id, options));
  }
  await films.removeAll({ q: { name: "none" }, parameters: { q: "{}" } });
  assertEquals((await films.all({ count: true })).total, 4);
});

test("a next that no page has is refused", async () => {
  await using studio = await openStudio();
  const page = await studio.films.all();
  for (const next of ["", null, 0, page, {}, new URLSearchParams("limit=1")]) {
    const options = { q: { year: 1979 }, next: untyped<string>(next) };
    await assertRejects(() => studio.films.all(options), TypeError, "Cannot read the next page");
    await assertRejects(() => studio.films.each(options).next(), TypeError, "no next of a page");
  }
});

test("no value in the place of an identifier removes the list of a part", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const film = await films.create({ name: "A", reviews: [{ text: "Good" }] });
  const reviews = films.part("reviews", film._id);
  const wrong = [
    ...[{}, [], [film._id], { text: "Good" }, { _id: film._id }, film, new Map()],
    ...[Promise.resolve(film._id), new Criteria(), Object(film._id), () => film._id],
    ...[undefined, null, "", ".", "..", Infinity, NaN, true, Symbol("a")],
  ];
  for (const value of wrong) {
    const call = untyped<(value: unknown) => Promise<void>>(reviews.remove);
    await assertRejects(() => call(value), TypeError);
  }
  for (const value of ["a/b", "../..", "%2e%2e", "?q={}", "#", untyped<string>(0)]) {
    await assertRejects(() => reviews.remove(value), Error, "");
  }
  assertEquals(await films.one(film._id), film);
});

test("the entity of a part is removed with each option of remove()", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const { _id } = await films.create({ name: "A" });
  const place = films.part("place", _id);
  const options = { timeoutMS: 10_000, headers: {}, parameters: {}, signal: undefined };
  for (const more of [{ q: { city: "Rome" } }, { ifMatch: "*" }, options]) {
    await place.create({ city: "Rome" });
    await place.remove(more);
    await assertRejects(() => place.one());
  }
});

/** Serves lists whose pages lead to each other: `next` gives the number of the next page. */
async function serveChain(next: (page: number) => number) {
  const pages: number[] = [];
  const served = await serve((req, res) => {
    const page = Number(new URL(req.url ?? "", "http://a").searchParams.get("page"));
    pages.push(page);
    res.setHeader("link", `</films?page=${next(page)}>; rel="next"`);
    res.end(`[{"_id":"${page}"}]`);
  });
  const films = connect(served.url).resource<Film>("/films");
  return { films, pages, [Symbol.asyncDispose]: served[Symbol.asyncDispose] };
}

const CIRCLES: Readonly<Record<string, (page: number) => number>> = {
  "to itself": (page) => page,
  "to the page before": (page) => page === 1 ? 2 : 1,
  "back to the first one": (page) => (page + 1) % 7,
  "into a circle behind a tail": (page) => page === 40 ? 29 : page + 1,
};

for (const [name, next] of Object.entries(CIRCLES)) {
  test(`each() fails on a list whose pages lead ${name}`, async () => {
    await using server = await serveChain(next);
    const seen: string[] = [];
    const walk = async () => {
      for await (const { _id } of server.films.each()) seen.push(_id);
    };
    await assertRejects(walk, Error, "comes again");
    assertEquals([...new Set(seen)].map(Number), [...new Set(server.pages)]);
  });
}

test("each() reads a long list to its end", async () => {
  await using server = await serveChain((page) => page + 1);
  const ids: string[] = [];
  for await (const { _id } of server.films.each()) {
    ids.push(_id);
    if (ids.length === 300) break;
  }
  assertEquals(ids, Array.from({ length: 300 }, (_, page) => String(page)));
});

test("a Link that is no list of links says nothing of the next page, however long it is", async () => {
  const links = ["<", "<a>;", "<a> ", "<a>; rel=", '<a>; rel="nex"', "<a>;  "]
    .map((part) => part.repeat(1_000_000 / part.length));
  for (const link of links) {
    const fetch = () => Promise.resolve(new Response("[]", { headers: { link } }));
    const { next }: Page<object> = await connect("http://x", { fetch }).resource<Film>("/a").all();
    assertEquals(next, undefined);
  }
});
