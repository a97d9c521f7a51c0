import { assert, assertEquals } from "@std/assert";
import { all, create, FrameworkModel, type FrameworkRequest, prop } from "../../../mod.ts";
import { type QueryObject, rest } from "../../../mod.ts";
import { readCsv, rowsOf } from "../../support/csv.ts";
import { difficult, mountFormats } from "../../fixtures/formats.ts";
import { longTest, test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

const LINES = { accept: "application/x-ndjson" };
const TABLE = { accept: "text/csv" };

const QUERIES = [
  ...["", "?sort=-rank", "?sort=name&select=name,place", "?select=tags", "?populate=owner"],
  ...["?select=name,owner&populate=owner", '?q={"rank":{"$gt":3}}', '?q={"rank":99}'],
];

const PAGES = ["?limit=2&sort=rank", "?limit=2&skip=2", "?limit=100", "?skip=1000"];

/** Both send the first query, and take turns with the others. */
const READERS: readonly Readonly<Record<string, string>>[] = [{}, { "x-admin": "1" }];

/** What of an entity is in the cell of a column. */
function cellOf(entity: unknown, name: string): string | null {
  const value = name.split(".").reduce<unknown>((at, key) => {
    return Object(at) === at && !Array.isArray(at) ? Object(at)[key] : undefined;
  }, entity);
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") return JSON.stringify(value);
  const isNumber = ["price", "big", "rank"].includes(name) && /^-?[\d.]+$/.test(value);
  return /^(?:[\t\r\n']|\s*[=+\-@])/.test(value) && !isNumber ? `'${value}` : value;
}

test("a list has the same entities in each format", async () => {
  await using app = await mountFormats(difficult());
  for (const list of app.lists) {
    const queries = list.endsWith("paged") ? [...QUERIES, ...PAGES] : QUERIES;
    for (const [index, query] of queries.entries()) {
      const readers = READERS.filter((_, at) => index === 0 || at === index % 2);
      for (const headers of readers) {
        const path = list + query;
        const json = await app.get<Record<string, unknown>[]>(path, { headers });
        const lines = await app.get(path, { headers: { ...headers, ...LINES } });
        const read = lines.text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
        assertEquals([path, lines.status, read], [path, 200, json.body]);
        const table = await app.get(path, { headers: { ...headers, ...TABLE } });
        const [names = [], ...rows] = readCsv(table.text);
        const expected = json.body.map((each) => names.map((name) => cellOf(each, String(name))));
        assertEquals([path, table.status, rows], [path, 200, expected]);
        for (const { text } of [lines, table]) assert(!text.includes("SECRET"), path);
        for (const name of ["link", "x-total-count", "content-range"]) {
          const told = [json, lines, table].map((each) => each.headers.get(name));
          assertEquals([path, name, new Set(told).size], [path, name, 1]);
        }
      }
    }
  }
});

const COLUMNS = ["_id", "name", "rank", "price", "big", "at", "open", "place.city", "place.lat"];

test("the columns of a table are what its reader may see, whatever is stored", async () => {
  for (const things of [[], [{}], difficult()]) {
    await using app = await mountFormats(things);
    for (const list of app.lists) {
      const columnsOf = async (query: string, headers = {}) =>
        readCsv((await app.get(list + query, { headers: { ...TABLE, ...headers } })).text)[0];
      const version = list.endsWith("things") ? [] : ["__v"];
      assertEquals([list, await columnsOf("")], [list, [...COLUMNS, "owner", ...version]]);
      const all = [...COLUMNS, "owner", "cost", ...version];
      assertEquals(await columnsOf("", { "x-admin": "1" }), all);
      assertEquals(await columnsOf("?select=name"), ["_id", "name"]);
      assertEquals(await columnsOf("?select=tags"), ["_id"]);
      assertEquals(await columnsOf("?select=place,name"), ["_id", "name", ...COLUMNS.slice(-2)]);
      const populated = ["owner._id", "owner.name", "owner.__v"];
      assertEquals(await columnsOf("?populate=owner"), [...COLUMNS, ...populated, ...version]);
    }
  }
});

test("an empty list has no lines, and a table only its header", async () => {
  await using app = await mountFormats([]);
  for (const list of app.lists) {
    const lines = await app.get(list, { headers: LINES });
    assertEquals([lines.status, lines.text], [200, ""]);
    assertEquals(rowsOf((await app.get(list, { headers: TABLE })).text), []);
  }
});

const FORMULAS: Readonly<Record<string, boolean>> = {
  ...{ "=1": true, "+1": true, "-1": true, "@x": true, "＝1": true, "＋1": true, "－1": true },
  ...{ "＠x": true, " =1": true, "\u3000=1": true, "\u0000=1": true, "\u200b=1": true },
  ...{ "\ufeff=1": true, "\u00a0\u2060＠": true, "\u001f=1": true, "\n=1": true, " \n =1": true },
  ...{ "\u3164=1": true, "\u202e=1": true, "\ufe0f=1": true, "'": true, "'=1": true, "' =": true },
  ...{ "\tx": true, "\rx": true, "\nx": true, "\n": true },
  ...{
    "": false,
    " ": false,
    " x": false,
    "a=1": false,
    "1-1": false,
    " '=1": false,
    " \tx": false,
  },
  ...{ "\u0000x": false, "x＝": false },
};

test("a table marks each text that a spreadsheet could run as a formula", async () => {
  const texts = Object.keys(FORMULAS);
  await using app = await mountFormats(texts.map((name, rank) => ({ rank, name })));
  const { text } = await app.get("/bare?sort=rank&select=name", { headers: TABLE });
  const cells = rowsOf(text).map(({ name }) => name);
  assertEquals(cells, texts.map((each) => FORMULAS[each] ? `'${each}` : each));
});

longTest("long lists are whole in each format", async () => {
  const things = Array.from(
    { length: 5000 },
    (_, rank) => ({ rank: rank * 2, name: "€".repeat(60) }),
  );
  await using app = await mountFormats(things);
  for (const list of ["/bare", "/hooked", "/lean", "/dressed", "/bare?populate=owner"]) {
    const lines = await app.get(list, { headers: LINES });
    const read = lines.text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    assertEquals(read, await app.read(list));
    const rows = rowsOf((await app.get(list, { headers: TABLE })).text);
    assertEquals(rows.map(({ _id }) => _id), read.map(({ _id }) => _id));
    assert(rows.every(({ name }) => name === "=4".padStart(3, "'") || name === "€".repeat(60)));
  }
});

test("a table has the column of a field with select: false if the projection of a hook names it", async () => {
  class Crate extends FrameworkModel {
    @prop({ select: false })
    code?: string;
    @prop()
    label?: string;
  }
  const show = (projection: QueryObject) => (req: FrameworkRequest) => {
    Object.assign(req.framework, { projection });
    return true;
  };
  @rest({
    route: "/coded",
    methods: [all({ formats: ["csv"], preFetch: show({ "+code": 1 }) }), create()],
  })
  @rest({ route: "/codes", methods: [all({ formats: ["csv"], preFetch: show({ code: 1 }) })] })
  @rest({ route: "/plain", methods: [all({ formats: ["csv"] })] })
  class Coded extends Crate {}
  await using app = await mount([Coded]);
  const { _id } = await app.created("/coded", { code: "c", label: "l" });
  const tableOf = async (path: string) => readCsv((await app.get(path, { headers: TABLE })).text);
  assertEquals(await tableOf("/coded"), [["_id", "code", "label", "__v"], [_id, "c", "l", "0"]]);
  assertEquals(await tableOf("/codes"), [["_id", "code"], [_id, "c"]]);
  assertEquals(await tableOf("/plain"), [["_id", "label", "__v"], [_id, "l", "0"]]);
});
