import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { mountPieces, pieceId, placesOf, ranked } from "../fixtures/pieces.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

const LIMIT = "a whole number from 1 to 10";
const SKIP = "a whole number from 0 to 2147483647";
const SORT = "fields out of _id, rank, name";
const SELECT = "fields out of _id, name, rank, tags, owner, friends, star";
const POPULATE = "fields out of owner, friends, star";
const SEARCH = "1 to 10 words, at most 200 characters";
const ID = "an identifier, or what Link has";
const ID_SELECTED = "fields out of _id, name, tags";

/** Queries that every list refuses: what is wrong with which parameter. */
const REFUSED: [query: string, parameter: string, allowed: string][] = [
  ...["11", "0", "", "-1", "+1", "%2B1", "1e1", "1.0", "0x1", "%D9%A3", " 1", "x", "99999999999"]
    .map((value) => [`limit=${value}`, "limit", LIMIT] as [string, string, string]),
  ["limit[]=2", "limit", "one value"],
  ["limit[gt]=2", "limit", "one value"],
  ["limit=1&limit=1", "limit", "one value"],
  ["%6Cimit=1&limit=2", "limit", "one value"],
  ["skip=-1", "skip", SKIP],
  ["skip=", "skip", SKIP],
  ["skip=2147483648", "skip", SKIP],
  ["skip=1&skip=2", "skip", "one value"],
  ["after=1", "after", ID],
  ["after=", "after", ID],
  [`after=${pieceId(0)}0`, "after", ID],
  [`after=${pieceId(0)}&skip=0`, "after", "no skip beside it"],
  [`after=${pieceId(0)}&after=${pieceId(1)}`, "after", "one value"],
  ...["", "-", ",", "--rank", "+rank", "rank,", "__proto__", "constructor", "toString", "text"]
    .map((value) => [`sort=${value}`, "sort", SORT] as [string, string, string]),
  ...["secret", "tags", "rank;name", "Rank", "rank.x", "$rank", "rank%00"]
    .map((value) => [`sort=${value}`, "sort", SORT] as [string, string, string]),
  ["sort=rank,rank", "sort", "each field once"],
  ["sort=rank,-rank", "sort", "each field once"],
  ["sort=rank,name,_id,rank,name,_id,rank,name,_id", "sort", "at most 8 fields"],
  ["sort=rank&sort=-rank", "sort", "each field once"],
  ["sort=rank&sort=", "sort", SORT],
  ["sort=rank&sort=secret", "sort", SORT],
  ["sort[]=rank", "sort", "fields separated by commas"],
  ["sort[rank]=1", "sort", "fields separated by commas"],
  ["sort=name&sort[rank]=1", "sort", "fields separated by commas"],
  ...["", "secret", "tenant", "__v", "-name", "name,", "tags.0", "__proto__", "text"]
    .map((value) => [`select=${value}`, "select", SELECT] as [string, string, string]),
  ["select=name&select=secret", "select", SELECT],
  ["select=name&select=", "select", SELECT],
  ...["", "%20", "a+b+c+d+e+f+g+h+i+j+k", "x".repeat(201)]
    .map((value) => [`search=${value}`, "search", SEARCH] as [string, string, string]),
  ...["%00", "a%00b"]
    .map((value) =>
      [`search=${value}`, "search", "a text without NUL"] as [string, string, string]
    ),
  ["search=a&search=b", "search", "one value"],
  ...["", "tags", "secret", "-owner", "owner,", "owner.name", "owner.secret", "__proto__"]
    .map((value) => [`populate=${value}`, "populate", POPULATE] as [string, string, string]),
  ["populate=owner&populate=tags", "populate", POPULATE],
];

test("a list refuses a value that it does not declare, and names the parameter", async () => {
  await using app = await mountPieces(ranked(2));
  for (const list of app.lists) {
    for (const [query, parameter, allowed] of REFUSED) {
      const { status, body } = await app.get<ErrorBody>(`${list}?${query}`);
      const message = `Parameter "${parameter}" takes ${allowed}`;
      assertEquals([list, query, status, body], [list, query, 400, {
        ...{ code: "BAD_FORMAT", message, parameter, allowed },
      }]);
    }
  }
});

test("an operation that declares options refuses those that it does not declare", async () => {
  await using app = await mountPieces(ranked(2));
  const entity = `/bare/${pieceId(0)}`;
  for (const parameter of ["limit", "skip", "after", "sort", "search", "populate"]) {
    const { status, body } = await app.get(`${entity}?${parameter}=x`);
    assertEquals([status, body], [400, {
      code: "BAD_FORMAT",
      message: `Parameter "${parameter}" is not allowed`,
      parameter,
    }]);
  }
  assertEquals((await app.get(`${app.lists[0]}?populate=tags`)).status, 400);
  const { body } = await app.get(`${entity}?select=rank`);
  assertEquals((body as { allowed: string }).allowed, ID_SELECTED);
});

test("text that is not percent-encoded UTF-8 is refused, not read as other text", async () => {
  await using app = await mountPieces([{ name: "\ufffd" }]);
  for (const list of app.lists) {
    for (const query of ["search=%E9", "search=%", "search=%ED%A0%80", "search=a%C3"]) {
      const { status, body } = await app.get<ErrorBody>(`${list}?${query}`);
      const message = 'Parameter "search" takes percent-encoded UTF-8';
      assertEquals([list, query, status, body.message], [list, query, 400, message]);
    }
    assertEquals((await app.get(`${list}?mine=%E9&limit=2`)).status, 200);
    assertEquals(placesOf(await app.read(`${list}?search=%EF%BF%BD`)), [0]);
  }
});

test("other parameters belong to hooks", async () => {
  await using app = await mountPieces(ranked(2));
  for (const list of app.lists) {
    for (
      const query of ["page=7", "Limit=x", "limits=0", "page[limit]=0", "x[limit]=0", "_sort=x"]
    ) {
      assertEquals([query, (await app.get(`${list}?${query}`)).status], [query, 200]);
    }
  }
});

test("strict parameters take what a list declares, and nothing else", async () => {
  await using app = await mountPieces(ranked(4), { strict: onlyStrict("parameters") });
  for (const list of app.lists) {
    const query = `q={}&limit=2&after=${pieceId(0)}&sort=rank&select=name&search=n`;
    assertEquals(placesOf(await app.read(`${list}?${query}`)), [1, 2]);
    assertEquals(placesOf(await app.read(`${list}?skip=3`)), [3]);
    const { status, body } = await app.get<ErrorBody>(`${list}?page=1`);
    assertEquals([status, body.message], [400, 'Parameter "page" is not allowed']);
  }
});

test("preFetch hooks answer before parameters are judged", async () => {
  @rest({ route: "/closed", methods: [all({ page: { max: 3 }, preFetch: () => false })] })
  class Closed extends FrameworkModel {}
  await using app = await mount([Closed]);
  assertEquals((await app.get("/closed?limit=x")).status, 403);
});

class Part extends FrameworkModel {
  @prop()
  name?: string;
}

const own = { page: { max: 3 }, parameters: ["sort"] };

@rest({
  route: "/owners",
  methods: [
    all(own),
    one({ parameters: ["select"], preFetch: ({ query }) => query.select !== "no" }),
  ],
})
class Owner extends FrameworkModel {
  @rest({ methods: [all(own)] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

test("a hook may read a parameter of its own that has the name of an option", async () => {
  await using app = await mount([Owner]);
  const [owner] = await getModel(Owner).create([{}]);
  assertEquals((await app.get("/owners?sort=anything")).status, 200);
  assertEquals((await app.get("/owners?search=anything")).status, 400);
  assertEquals((await app.get("/owners?limit=anything")).status, 400);
  const parts = `/owners/${owner?._id}/parts`;
  assertEquals((await app.get(`${parts}?sort=anything&select=yes`)).status, 200);
  assertEquals((await app.get(`${parts}?select=no`)).status, 403);
});

test("an operation that declares nothing looks at none of the parameters", async () => {
  @rest({ route: "/plain", methods: [all()] })
  class Plain extends FrameworkModel {}
  await using app = await mount([Plain]);
  await getModel(Plain).create([{}, {}]);
  for (const query of ["limit=1", "skip=1", "sort=x", "select=x", "search=x", "after=x&after=y"]) {
    const { status, body, headers } = await app.get<unknown[]>(`/plain?${query}`, {
      headers: { prefer: "count=exact" },
    });
    assertEquals([status, body.length, headers.get("link")], [200, 2, null]);
    assertEquals([headers.get("x-total-count"), headers.get("vary")], [null, null]);
  }
});
