import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { connect, type ConnectOptions, type FetchFunction } from "@mongrove/mongrove/client";
import type { Film } from "../fixtures/studio.ts";
import { test } from "../harness/testing.ts";

const id = "0123456789abcdef01234567";

/** A client without a server, and what it sends. The answers are empty, or those of `answer`. */
function record(
  options: ConnectOptions = {},
  answer: FetchFunction = () => Promise.resolve(empty()),
) {
  const sent: string[] = [];
  const inits: RequestInit[] = [];
  const fetch: FetchFunction = (url, init) => {
    sent.push(`${init.method} ${decodeURIComponent(url)}`);
    inits.push(init);
    return answer(url, init);
  };
  const api = connect("http://x", { fetch, ...options });
  return { api, films: api.resource<Film>("/films"), sent, inits };
}

function empty(headers: Record<string, string> = {}): Response {
  return new Response("[]", { headers });
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** What JavaScript, and code without strict types, may give. */
function untyped<T>(value: unknown): T {
  return value as T;
}

const FILTERS: readonly (readonly [unknown, string])[] = [
  [{ year: undefined }, "q.year: JSON has no undefined"],
  [{ year: { $gte: undefined } }, "q.year.$gte: JSON has no undefined"],
  [{ $or: [{ year: 1 }, { owner: undefined }] }, "q.$or.1.owner: JSON has no undefined"],
  [{ year: { $in: [undefined] } }, "q.year.$in.0: JSON has no undefined"],
  [{ name: () => "A" }, "q.name: JSON has no function"],
  [{ name: Symbol("A") }, "q.name: JSON has no symbol"],
  [{ year: NaN }, "q.year: JSON has no NaN"],
  [{ year: { $lt: -Infinity } }, "q.year.$lt: JSON has no -Infinity"],
  [{ createdAt: { $gt: new Date(NaN) } }, "q.createdAt.$gt: JSON has no invalid Date"],
];

for (const [filter, message] of FILTERS) {
  test(`a filter that JSON would change is refused: ${message}`, async () => {
    const { films, sent } = record();
    const options = { q: untyped<Record<never, never>>(filter) };
    const calls = [
      ...[() => films.removeAll(options), () => films.all(options), () => films.one(id, options)],
      ...[() => films.update(id, {}, options), () => films.remove(id, options)],
      () => films.each(options).next(),
    ];
    for (const call of calls) await assertRejects(call, TypeError, `Cannot send ${message}`);
    assertEquals(sent, []);
  });
}

test("removeAll() without a filter is refused, of a list and of a part", async () => {
  const { films, sent } = record();
  for (const options of [undefined, {}, { q: undefined }, { q: null }, { q: "" }, { _id: id }]) {
    const wrong = untyped<{ q: Record<never, never> }>(options);
    for (const list of [films, films.part("reviews", id)]) {
      await assertRejects(
        () => list.removeAll(wrong),
        TypeError,
        "Cannot remove all: q is missing",
      );
    }
  }
  assertEquals(sent, []);
  await films.removeAll({ q: {} });
  assertEquals(sent, ["DELETE http://x/films?q={}"]);
});

test("no parameter of a call empties a filter", async () => {
  const { films, sent } = record();
  const parameters = untyped<Record<string, string>>({ q: undefined });
  await films.removeAll({ q: { year: 1 }, parameters });
  assertEquals(sent, ['DELETE http://x/films?q={"year":1}']);
});

test("a body that JSON would change is refused, and leaves out what is undefined", async () => {
  const { films, sent, inits } = record();
  const date = untyped<string>(new Date("soon"));
  const bodies = [
    [{ year: NaN }, "body.year: JSON has no NaN"],
    [{ reviews: [{ text: "a", stars: Infinity }] }, "body.reviews.0.stars: JSON has no Infinity"],
    [{ name: date }, "body.name: JSON has no invalid Date"],
    [{ cast: [untyped<string>(undefined)] }, "body.cast.0: JSON has no undefined"],
  ] as const;
  for (const [body, message] of bodies) {
    await assertRejects(() => films.update(id, body), TypeError, `Cannot send ${message}`);
    await assertRejects(() => films.create(untyped(body)), TypeError, `Cannot send ${message}`);
  }
  assertEquals(sent, []);
  const at = untyped<string>(new Date(0));
  await films.update(id, { name: at, year: undefined, place: null });
  assertEquals(inits[0]?.body, '{"name":"1970-01-01T00:00:00.000Z","place":null}');
});

test("fetch() gets credentials only if they are given", async () => {
  for (const options of [{}, { credentials: "omit" }] as const) {
    const { films, inits } = record(options);
    await films.all();
    assertEquals(inits.map((init) => "credentials" in init), ["credentials" in options]);
  }
});

const HANGING = {
  "a headers function": { headers: never },
  "a given fetch()": { fetch: never },
  "a body": {
    fetch: () => Promise.resolve(new Response(new ReadableStream({ pull: () => never() }))),
  },
} satisfies Record<string, ConnectOptions>;

for (const [name, options] of Object.entries(HANGING)) {
  test(`timeoutMS and signal end a call while it waits for ${name} that never ends`, async () => {
    const { films } = record(options);
    const late = films.one(id, { timeoutMS: 20 });
    assertEquals((await assertRejects(() => late, DOMException)).name, "TimeoutError");
    const controller = new AbortController();
    const call = films.one(id, { signal: controller.signal });
    controller.abort(new RangeError("enough"));
    await assertRejects(() => call, RangeError, "enough");
  });
}

test("nothing is sent for a call that has ended before its headers were there", async () => {
  const { promise, resolve } = Promise.withResolvers<Record<string, string>>();
  const { films, sent } = record({ headers: () => promise });
  await assertRejects(() => films.create({ name: "A" }, { timeoutMS: 20 }), DOMException);
  resolve({});
  await new Promise((done) => setTimeout(done));
  assertEquals(sent, []);
});

test("a longer time-out than timers take is no short one", async () => {
  const slow: FetchFunction = () => new Promise((done) => setTimeout(() => done(empty()), 20));
  const { films } = record({}, slow);
  assertEquals((await films.all({ timeoutMS: 2 ** 32 })).items, []);
});

test("parameters do not replace those of the next page", async () => {
  const headers = [{ link: '</films?page=1>; rel="next"' }];
  const next: FetchFunction = () => Promise.resolve(empty(headers.pop()));
  const { films, sent } = record({}, next);
  const each = films.each({ parameters: { page: "0", key: "k" } });
  await each.next();
  assertEquals(sent, ["GET http://x/films?page=0&key=k", "GET http://x/films?page=1&key=k"]);
});

test("lists without names are no parameters", async () => {
  const { films, sent } = record();
  await films.all({ sort: [], select: [], populate: [] });
  await films.all({ populate: {} });
  assertEquals(sent, Array(2).fill("GET http://x/films"));
});

test("a path without a slash is refused", () => {
  const { api } = record();
  assertThrows(() => api.resource<Film>("films"), TypeError, 'Cannot open "films"');
  assertThrows(() => api.resource<Film>(".evil.test/films"), TypeError);
});

for (const base of ["http://a b", "/api"]) {
  test(`a wrong URL fails at once: ${base}`, async () => {
    const films = connect(base, { timeoutMS: 200 }).resource<Film>("/films");
    await assertRejects(() => films.one(id), TypeError);
  });
}

test("an entity, or null, in the place of its identifier removes no list", async () => {
  const { films, sent } = record();
  const reviews = films.part("reviews", id);
  const entity = untyped<string>({ _id: id, text: "A" });
  const identifier = untyped<string>({ toJSON: () => id });
  for (const wrong of [entity, identifier, untyped<string>(null), untyped<string>(undefined)]) {
    await assertRejects(() => reviews.remove(wrong), TypeError);
    await assertRejects(() => reviews.one(wrong), TypeError);
    await assertRejects(() => films.remove(wrong), TypeError);
  }
  const options = untyped<{ ifMatch: string }>({ _id: id });
  await assertRejects(() => films.remove(id, options), TypeError, "they are an entity");
  assertEquals(sent, []);
});
