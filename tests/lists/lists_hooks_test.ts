import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, prop, rest, RestError } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { mountPieces, pieceId, placesOf, ranked, seen } from "../fixtures/pieces.ts";
import { test } from "../harness/testing.ts";
import { linksOf, readPages } from "../features/page/links.ts";
import { asQuery, mount, NOBODY } from "../support/support.ts";

const EVEN = { headers: { "x-even": "1" } };

/** The headers with which the hooks of a list set options. */
function setting(options: object, headers = {}) {
  return { headers: { ...headers, "x-options": JSON.stringify(options) } };
}

test("a page is full although hooks leave entities out", async () => {
  await using app = await mountPieces(ranked(9));
  for (const list of app.hooked) {
    const reply = await app.get(list, EVEN);
    assertEquals([list, placesOf(reply.body)], [list, [0, 2, 4]]);
    assertEquals(linksOf(reply).next, `${list}?after=${pieceId(4)}`);
    const last = await app.get(`${list}?after=${pieceId(4)}`, EVEN);
    assertEquals([placesOf(last.body), linksOf(last)], [[6, 8], {}]);
  }
});

test("skip counts no entities that hooks leave out", async () => {
  await using app = await mountPieces(ranked(250));
  for (const list of app.hooked) {
    const reply = await app.get(`${list}?skip=1&limit=2`, EVEN);
    assertEquals([list, placesOf(reply.body)], [list, [2, 4]]);
    assertEquals(linksOf(reply).next, `${list}?skip=3&limit=2`);
    for (const [skip, shown] of [[123, [246, 248]], [124, [248]], [125, []]] as const) {
      const last = await app.get(`${list}?skip=${skip}&limit=2`, EVEN);
      assertEquals([skip, placesOf(last.body), linksOf(last).next], [skip, shown, undefined]);
    }
  }
});

test("the pages of a list whose hooks leave entities out hold each entity that they keep once", async () => {
  await using app = await mountPieces(ranked(10));
  for (const list of app.hooked) {
    for (const path of ["?limit=2&sort=-rank", "?limit=1", "?limit=2&skip=1&sort=rank"]) {
      const pages = await readPages(app, list + path, EVEN);
      const places = pages.flatMap(({ body }) => placesOf(body));
      const even = path.includes("skip") ? [2, 4, 6, 8] : [0, 2, 4, 6, 8];
      assertEquals([list, path, places.toSorted()], [list, path, even]);
    }
  }
});

test("hooks see the entities of a page and one more, and those that they leave out", async () => {
  await using app = await mountPieces(ranked(10));
  for (const list of app.hooked) {
    const see = async (path: string, options = {}) => {
      seen.length = 0;
      assertEquals((await app.get(list + path, options)).status, 200);
      return seen.map((name) => Number(name.slice(1)));
    };
    assertEquals([list, await see("?limit=2")], [list, [0, 1, 2]]);
    assertEquals(await see("?limit=2", EVEN), [0, 1, 2, 3, 4]);
    assertEquals(await see("?limit=3&sort=-rank"), [9, 8, 7, 6]);
    assertEquals(await see("?limit=3&skip=8"), ranked(10).map(({ rank }) => rank));
  }
});

test("after an entity that hooks leave out tells nothing of its values", async () => {
  await using app = await mountPieces(ranked(6));
  for (const list of app.hooked) {
    for (const query of ["?", `${asQuery({ name: { $ne: "n1" } })}&`]) {
      const after = (place: number) =>
        app.get(`${list}${query}sort=rank&after=${pieceId(place)}`, EVEN);
      const { status, body } = await after(1);
      assertEquals([list, status], [list, 400]);
      assertEquals(body, (await app.get(`${list}?sort=rank&after=${NOBODY}`)).body);
      assertEquals(placesOf((await after(2)).body), [4]);
    }
    const out = `${list}${asQuery({ name: "n4" })}&sort=rank&after=${pieceId(2)}`;
    assertEquals(placesOf((await app.get(out, EVEN)).body), [4]);
  }
});

test("a page reads on to the end where hooks leave out what remains", async () => {
  await using app = await mountPieces([...ranked(2), ...Array(8).fill({ rank: 1 })]);
  for (const list of app.hooked) {
    const { body, headers } = await app.get(`${list}?limit=1`, EVEN);
    assertEquals([placesOf(body), headers.get("link")], [[0], null]);
  }
});

test("the limit of a hook binds a page, and the client's limit stays in the link", async () => {
  await using app = await mountPieces(ranked(6));
  for (const list of app.lists) {
    for (const limit of [2, "2"]) {
      const reply = await app.get(`${list}?limit=4`, setting({ limit }));
      assertEquals([list, placesOf(reply.body)], [list, [0, 1]]);
      assertEquals(linksOf(reply).next, `${list}?limit=4&after=${pieceId(1)}`);
    }
    assertEquals(placesOf(await app.read(`${list}?limit=2`, setting({ limit: 5 }))), [0, 1]);
    assertEquals((await app.get(list, setting({ limit: 0 }))).status, 500);
  }
});

test("the sort of a hook orders pages where the client does not sort", async () => {
  await using app = await mountPieces(ranked(6).map((each) => ({ ...each, name: "same" })));
  for (const list of app.lists) {
    for (const sort of ["-rank", { rank: -1 }, { rank: "desc" }, [["rank", -1]], "name -rank"]) {
      const pages = await readPages(app, `${list}?limit=4`, setting({ sort }));
      const places = pages.map(({ body }) => placesOf(body));
      assertEquals([list, sort, places], [list, sort, [[5, 4, 3, 2], [1, 0]]]);
    }
    assertEquals(placesOf(await app.read(`${list}?sort=rank`, setting({ sort: "-rank" }))), [
      ...[0, 1, 2],
    ]);
  }
});

test("the skip of a hook does not go with pages", async () => {
  await using app = await mountPieces(ranked(3));
  for (const list of app.lists) {
    for (const skip of [0, 1, "1"]) {
      assertEquals((await app.get(list, setting({ skip }))).status, 500, list);
    }
    assertEquals((await app.get(list, setting({ skip: null }))).status, 200);
  }
});

test("pages go on under the filter that a hook puts in the place of q", async () => {
  const pieces = ranked(8).map((each, place) => ({ ...each, name: `n${place % 2}` }));
  await using app = await mountPieces(pieces);
  for (const list of app.lists) {
    const options = { headers: { "x-only": "n1" } };
    const q = encodeURIComponent('{"name":"n0"}');
    const pages = await readPages(app, `${list}?limit=3&sort=-rank&q=${q}`, options);
    assertEquals(pages.map(({ body }) => placesOf(body)), [[7, 5, 3], [1]]);
  }
});

test("an error of a hook is the answer of a page", async () => {
  @rest({
    route: "/failing",
    methods: [all({
      page: { max: 3 },
      postFetch: (_req, entity) => {
        if (entity.n === 2) throw new RestError(402, "Pay first");
        return entity;
      },
    })],
  })
  class Failing extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
  }
  await using app = await mount([Failing]);
  const [, second] = await getModel(Failing).create([1, 2, 3].map((n) => ({ n })));
  const { status, headers } = await app.get("/failing");
  assertEquals([status, headers.get("link")], [402, null]);
  assertEquals((await app.get("/failing?skip=2")).status, 402);
  assertEquals((await app.get(`/failing?after=${second?._id}`)).status, 200);
});

const projected = {
  page: { size: 1, max: 2 },
  sort: ["name", "salary"],
  preFetch: ({ framework, query }: FrameworkRequest) => {
    framework.projection = JSON.parse(String(query.show));
    framework.options.lean = query.raw === "yes";
    return true;
  },
  parameters: ["show", "raw"],
} as const;

@rest({
  route: "/workers",
  methods: [all({ ...projected, postFetch: (_req, worker) => worker })],
})
@rest({
  route: "/lean",
  methods: [all({ ...projected, lean: true, preSend: (_req, each) => each })],
})
class Worker extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  salary?: number;
  @prop({ select: false })
  notes?: string;
}

test("hooks of pages see nothing that the order reads besides their projection, and show none of it", async () => {
  await using app = await mount([Worker]);
  await getModel(Worker).create([1, 2].map((salary) => ({ name: "n", salary, notes: "x" })));
  const cases = [[{ name: 1 }, ["_id", "name"]], [{ __v: 0 }, ["_id", "name", "salary"]]] as const;
  for (const list of ["/workers?", "/workers?raw=yes&", "/lean?"]) {
    for (const [show, keys] of cases) {
      for (const order of ["", "&sort=name", "&sort=salary"]) {
        const path = `${list}show=${JSON.stringify(show)}${order}`;
        const [shown] = await app.read<object[]>(path);
        assertEquals([path, Object.keys(shown ?? {}).toSorted()], [path, keys]);
      }
    }
  }
});
