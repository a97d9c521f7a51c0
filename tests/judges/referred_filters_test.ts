import { assert, assertEquals } from "@std/assert";
import { casesOf, report } from "../harness/report.ts";
import type { Reply } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";
import { Evaluator } from "./referred/evaluate.ts";
import { type ClientFilter, RandomFilters } from "./referred/filters.ts";
import { type Library, serveLibrary } from "./referred/library.ts";
import {
  headersOf,
  randomAuthor,
  randomReader,
  randomWorld,
  type Reader,
  sees,
  type StoredAuthor,
  type StoredBook,
  type World,
} from "./referred/world.ts";
import { Random } from "./twins/random.ts";

const SEED = Number(Deno.env.get("REFERRED_SEED") ?? 20261127);

/** The number of filters that are judged for each world. */
const FILTERS = 40;

/** A filter of a reader, and the books that it selects by the contract. */
interface JudgedFilter {
  readonly reader: Reader;
  readonly filter: ClientFilter;
  /** `undefined` for a filter that is refused. */
  readonly selected: readonly StoredBook[] | undefined;
  readonly random: Random;
  readonly world: World;
}

/** Sends a filter to a list and to another operation, and compares the answers with the selected books. */
async function judge({ app }: Library, judged: JudgedFilter): Promise<void> {
  const { reader, filter, selected, random, world } = judged;
  const headers = headersOf(reader, "a");
  const q = asQuery(filter);
  const route = random.one(["/books", "/hooked"]);
  const list = await app.get<{ _id: string }[]>(`${route}${q}&limit=100`, { headers });
  if (selected === undefined) {
    const changed = await app.patch(`${route}${q}`, { mark: 1 }, { headers });
    const one = await app.get(`${route}/${world.books[0]?._id}${q}`, { headers });
    assertEquals([list, changed, one].map(({ status }) => status), [400, 400, 400], list.text);
    return;
  }
  const ids = selected.map(({ _id }) => String(_id)).sort();
  assertEquals(list.status, 200, list.text);
  assertEquals(list.body.map(({ _id }) => _id).sort(), ids);
  const total = route === "/books" ? String(ids.length) : null;
  assertEquals(list.headers.get("x-total-count"), total);
  await random.one(OPERATIONS)({ ...judged, selected }, { app, route, q, headers });
}

interface JudgedPlace {
  readonly app: Library["app"];
  readonly route: string;
  readonly q: string;
  readonly headers: Record<string, string>;
}

type Selected = JudgedFilter & { readonly selected: readonly StoredBook[] };

/** Requests that take the filter of a list, with the comparison of their answers. */
const OPERATIONS: readonly ((judged: Selected, place: JudgedPlace) => Promise<void>)[] = [
  async function groups({ selected }, { app, q, headers }) {
    const { body } = await app.get<{ count: number }[]>(`/books${q}&group=year`, { headers });
    assertEquals(body.reduce((sum, { count }) => sum + count, 0), selected.length);
  },
  async function one({ selected, random, world }, { app, route, q, headers }) {
    const book = random.one(world.books);
    const path = `${route}/${book._id}${q}`;
    const { status } = await app.get(path, { headers });
    const changed = await app.patch(path, { mark: 2 }, { headers });
    assertEquals([status, changed.status], selected.includes(book) ? [200, 200] : [404, 404]);
  },
  async function updateAll({ selected }, { app, route, q, headers }) {
    const path = `${route}${q}`;
    const { body, text } = await app.patch<{ matched: number }>(path, { mark: 3 }, { headers });
    assertEquals(body.matched, selected.length, text);
  },
  async function search({ selected }, { app, q, headers }) {
    const { body } = await app.get<unknown[]>(`/books${q}&search=x&limit=100`, { headers });
    assertEquals(body.length, selected.filter(({ title }) => title.includes("x")).length);
  },
  async function lines({ selected }, { app, q, headers }) {
    const accept = "application/x-ndjson";
    const { text } = await app.get(`/books${q}&limit=100`, { headers: { ...headers, accept } });
    assertEquals(text.split("\n").filter((line) => line !== "").length, selected.length);
  },
];

test("filters through references select what an evaluator in memory selects", async () => {
  await using library = await serveLibrary();
  const counts = { refused: 0, empty: 0, some: 0, all: 0 };
  const worlds = casesOf(6, 3);
  for (let trial = 0; trial < worlds; trial++) {
    const random = new Random(SEED + trial);
    const world = randomWorld(random);
    await library.store("a", world);
    const filters = new RandomFilters(random, world);
    for (let turn = 0; turn < FILTERS; turn++) {
      const reader = randomReader(random);
      const filter = filters.filter();
      const selected = new Evaluator(world, reader).select(filter);
      const own = world.books.filter(({ company }) => company === reader.company).length;
      await judge(library, { reader, filter, selected, random, world }).catch((error) => {
        const sent = JSON.stringify({ reader, filter });
        throw new Error(`seed ${SEED + trial}, turn ${turn}: ${sent}: ${error.message}`);
      });
      if (selected === undefined) counts.refused++;
      else if (selected.length === 0) counts.empty++;
      else if (selected.length === own) counts.all++;
      else counts.some++;
    }
    await judgeRemoval(library, { random, world, filters });
  }
  assert(Object.values(counts).every((count) => count > 10), JSON.stringify(counts));
  await report(`filters through references: ${JSON.stringify(counts)}`);
});

/** Removes the books that a filter selects, and compares the others with those that are stored. */
async function judgeRemoval(
  library: Library,
  { random, world, filters }: {
    readonly random: Random;
    readonly world: World;
    readonly filters: RandomFilters;
  },
): Promise<void> {
  const reader = randomReader(random);
  const filter = filters.filter();
  const selected = new Evaluator(world, reader).select(filter);
  const headers = headersOf(reader, "a");
  const { status } = await library.app.delete(
    `${random.one(["/books", "/hooked"])}${asQuery(filter)}`,
    { headers },
  );
  assertEquals(status, selected === undefined ? 400 : 204, JSON.stringify({ reader, filter }));
  const left = (await library.books("a")).map((book) => String((book as StoredBook)._id));
  const gone = new Set(selected?.map(({ _id }) => String(_id)));
  const expected = world.books.map(({ _id }) => String(_id)).filter((id) => !gone.has(id));
  assertEquals(left.sort(), expected.sort(), JSON.stringify({ reader, filter }));
}

/** Returns a world that differs only in authors, and fields of authors, that a reader does not see. */
function hiddenTwin({ authors, books }: World, reader: Reader, random: Random): World {
  const twins = authors.flatMap((author) => {
    if (sees(reader, author)) {
      const { email: _email, ...others } = author;
      return [reader.role === "staff" ? author : { ...others, email: random.one(["ann", "zoe"]) }];
    }
    return random.chance(0.3) ? [] : [unseenAuthor(random, reader, author._id)];
  });
  const further = Array.from({ length: random.below(20) }, () => unseenAuthor(random, reader));
  return { authors: [...twins, ...further], books };
}

function unseenAuthor(random: Random, reader: Reader, id?: StoredAuthor["_id"]): StoredAuthor {
  let author = randomAuthor(random, id);
  while (sees(reader, author)) author = randomAuthor(random, id);
  return author;
}

const VARYING = ["date", "connection", "keep-alive"];

function shownOf({ status, headers, text }: Reply): unknown {
  return { status, headers: [...headers].filter(([name]) => !VARYING.includes(name)), text };
}

test("nothing tells a reader what the authors hold that he does not see", async () => {
  await using library = await serveLibrary();
  const statuses: Record<number, number> = {};
  const worlds = casesOf(8, 3);
  for (let trial = 0; trial < worlds; trial++) {
    const random = new Random(SEED + 1000 + trial);
    await compareTwins(library, random, statuses).catch((error) => {
      throw new Error(`seed ${SEED + 1000 + trial}: ${error.message}`);
    });
  }
  assertEquals(Object.keys(statuses), ["200", "400"]);
  await report(`twins behind references: statuses ${JSON.stringify(statuses)}`);
});

/** Sends the filters of a reader to two databases that are equal to him, and counts the statuses of the answers. */
async function compareTwins(
  library: Library,
  random: Random,
  statuses: Record<number, number>,
): Promise<void> {
  const { app } = library;
  const world = randomWorld(random);
  const reader = randomReader(random);
  await library.store("a", world);
  await library.store("b", hiddenTwin(world, reader, random));
  const filters = new RandomFilters(random, world);
  const ask = (method: string, query: string) =>
    Promise.all(
      ["a", "b"].map((name) =>
        app.send(method, `/books${query}`, { headers: headersOf(reader, name) })
      ),
    );
  for (let turn = 0; turn < FILTERS / 2; turn++) {
    const filter = filters.filter();
    const more = random.one(["", "&group=year", "&limit=3", "&search=x"]);
    const answers = await ask("GET", `${asQuery(filter)}${more}`);
    const [one, other] = answers.map(shownOf);
    assertEquals(one, other, JSON.stringify({ turn, reader, filter }));
    const status = answers[0]?.status ?? 0;
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  await ask("DELETE", asQuery(filters.filter()));
  assertEquals(await library.books("a"), await library.books("b"));
}
