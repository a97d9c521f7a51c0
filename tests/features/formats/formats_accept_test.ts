import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
} from "../../../mod.ts";
import type { FrameworkRequest, HooksOf, ModelClass } from "../../../mod.ts";
import { documentOf } from "../../support/documented.ts";
import { test } from "../../harness/testing.ts";
import { openGet, readToEnd } from "../../support/sockets.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

class Row extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop()
  text?: string;
}

function buildRows(hooks: HooksOf<Row>): ModelClass {
  @rest({ route: "/rows", methods: [all<Row>(hooks)] })
  class Rows extends Row {}
  return Rows;
}

/** Serves some rows in the given formats. */
async function mountRows(hooks: HooksOf<Row>, { count = 3, size = 1 } = {}) {
  const Rows = buildRows(hooks);
  const app = await mount([Rows]);
  const rows = Array.from({ length: count }, (_, rank) => ({ rank, text: "x".repeat(size) }));
  await getModel(Rows).insertMany(rows);
  return app;
}

const [JSON_TYPE, LINES, TABLE] = [
  "application/json; charset=utf-8",
  "application/x-ndjson",
  "text/csv; charset=utf-8; header=present",
];

const ACCEPTED: readonly [string, string][] = [
  ["*/*", JSON_TYPE],
  ["application/json", JSON_TYPE],
  ["application/*", JSON_TYPE],
  ["text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", JSON_TYPE],
  ["application/json, text/plain, */*", JSON_TYPE],
  ["application/x-ndjson", LINES],
  ["Application/X-NDJSON", LINES],
  ["application/x-ndjson, */*;q=0.1", LINES],
  ["text/csv", TABLE],
  ["text/*", TABLE],
  ["text/csv;q=0.5, application/x-ndjson;q=0.6", LINES],
  ["application/json;q=0.1, text/csv;q=0.2", TABLE],
  ["*/*, application/json;q=0", LINES],
  ["text/csv;q=0, */*;q=0.1", JSON_TYPE],
  ["application/problem+json, application/json", JSON_TYPE],
];

test("Accept chooses the format, by its weights", async () => {
  await using app = await mountRows({ formats: ["ndjson", "csv"] });
  for (const [accept, type] of ACCEPTED) {
    const { status, headers } = await app.get("/rows", { headers: { accept } });
    const told = [status, headers.get("content-type"), headers.get("vary")];
    assertEquals([accept, ...told], [accept, 200, type, "Accept"]);
  }
});

test("Accept that names no format of the list is a 406", async () => {
  await using app = await mountRows({ formats: ["ndjson"], page: { max: 2 }, count: true });
  for (const accept of ["text/csv", "image/png", "application/json;q=0", "nonsense"]) {
    const { status, body, headers } = await app.get<ErrorBody>("/rows", { headers: { accept } });
    assertEquals([accept, status, body.code], [accept, 406, "NOT_ACCEPTABLE"]);
    assertEquals(headers.get("vary"), "Accept");
  }
  const { headers } = await app.get("/rows", { headers: { accept: LINES } });
  assertEquals(headers.get("vary"), "Accept, Prefer");
});

test("Vary names each header once, and keeps those of middleware", async () => {
  await using app = await mountRows({
    ...{ formats: ["ndjson"], page: { max: 2 }, count: true, live: true },
    preFetch: (req) => Boolean(req.res?.vary("X-Own")),
  });
  const { headers } = await app.get("/rows");
  const names = (headers.get("vary") ?? "").split(", ");
  assertEquals(names.toSorted(), ["Accept", "Prefer", "X-Own"]);
});

test("a hook refuses a request before its Accept is looked at", async () => {
  await using app = await mountRows({ formats: ["csv"], preFetch: () => false });
  assertEquals((await app.get("/rows", { headers: { accept: "image/png" } })).status, 403);
});

test("Accept does nothing where no format is declared", async () => {
  await using app = await mountRows({});
  for (const accept of ["text/csv", "application/x-ndjson", "image/png"]) {
    const { status, headers } = await app.get("/rows", { headers: { accept } });
    const told = [status, headers.get("content-type"), headers.get("vary")];
    assertEquals(told, [200, JSON_TYPE, null]);
  }
});

test("HEAD has the headers of GET in each format, for lists of any size", async () => {
  for (const count of [0, 3, 3000]) {
    for (const hooks of [{}, { preSend: (_: FrameworkRequest, row: object) => row }]) {
      await using app = await mountRows({ ...hooks, formats: ["ndjson", "csv"] }, {
        count: Math.max(count, 1),
        size: 100,
      });
      for (const accept of [LINES, "text/csv"]) {
        const path = count === 0 ? '/rows?q={"rank":-1}' : "/rows";
        const head = await app.send("HEAD", path, { headers: { accept } });
        const get = await app.get(path, { headers: { accept } });
        for (const name of ["content-type", "content-length", "etag", "vary"]) {
          assertEquals([name, head.headers.get(name)], [name, get.headers.get(name)]);
        }
        assertEquals([head.status, head.text], [200, ""]);
      }
    }
  }
});

test("each format has a tag of its own, and 304 for it", async () => {
  await using app = await mountRows({ formats: ["ndjson", "csv"] });
  const tags = new Set<string>();
  for (const accept of ["*/*", LINES, "text/csv"]) {
    const etag = (await app.get("/rows", { headers: { accept } })).headers.get("etag") ?? "";
    const same = await app.get("/rows", { headers: { accept, "if-none-match": etag } });
    assertEquals([same.status, same.text], [304, ""]);
    tags.add(etag);
  }
  assertEquals(tags.size, 3);
});

test("a list that fails after its answer has begun is cut by a reset in each format", async () => {
  async function* fetch() {
    yield* Array.from({ length: 3000 }, (_, rank) => ({ rank, text: "x".repeat(100) }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error("late");
  }
  await using app = await mount([buildRows({ fetch, formats: ["ndjson", "csv"] })]);
  using error = stub(console, "error");
  for (const accept of [LINES, "text/csv"]) {
    using socket = await openGet(`${app.url}/rows`, {
      version: "1.1",
      headers: `Accept: ${accept}\r\n`,
    });
    await assertRejects(() => readToEnd(socket), Error, "reset");
  }
  assertEquals(error.calls.length, 2);
});

test("a table with one column has no empty line", async () => {
  class One extends FrameworkModel {
    static override schemaOptions = { _id: false } as const;
    @prop()
    name?: string;
  }
  @rest({ route: "/holders", methods: [one()] })
  class Holder extends FrameworkModel {
    @rest({ methods: [all({ formats: ["csv"] })] })
    @arrayProp({ items: One, embedded: true })
    ones?: One[];
  }
  await using app = await mount([Holder]);
  const { _id } = await getModel(Holder).create({ ones: [{}, { name: "a" }, { name: "" }] });
  const { text } = await app.get(`/holders/${_id}/ones`, { headers: { accept: "text/csv" } });
  assertEquals(text, 'name\r\n""\r\na\r\n""\r\n');
});

const WRONG: readonly [unknown, string][] = [
  [true, 'needs a list of formats as "formats"'],
  ["csv", 'needs a list of formats as "formats"'],
  [[], 'needs a list of formats as "formats"'],
  [[1], 'needs a list of formats as "formats"'],
  [["xml"], 'has an unknown format "xml" in "formats"'],
  [["json"], 'has an unknown format "json" in "formats"'],
  [["constructor"], 'has an unknown format "constructor" in "formats"'],
];

/** Mounts a class with a list of elements whose fields fit in no cell. */
function mountWith(method: unknown, ofParts: unknown = all()) {
  class Part extends FrameworkModel {
    static override schemaOptions = { _id: false, versionKey: false } as const;
    @prop({ type: Object })
    free?: object;
  }
  @rest({ route: "/things", methods: [one()] })
  @rest({ route: "/others", methods: [method as never] })
  class Thing extends FrameworkModel {
    @prop({ type: Object })
    free?: object;
    @rest({ methods: [ofParts as never] })
    @arrayProp({ items: Part, embedded: true, apart: false })
    parts?: Part[];
  }
  return Framework.initialize({ models: [Thing] });
}

test("wrong formats are an error at start-up", () => {
  const list = all as (options: unknown) => unknown;
  for (const [formats, problem] of WRONG) {
    assertThrows(() => mountWith(list({ formats })), TypeError, `all() ${problem}`);
  }
  const useless = 'all() has "csv" in "formats", but no field that fits in a cell';
  assertThrows(() => mountWith(all(), list({ formats: ["csv"] })), TypeError, useless);
  const single = (one as typeof list)({ formats: ["csv"] });
  assertThrows(() => mountWith(single), TypeError, 'one() cannot have "formats"');
  const made = (create as typeof list)({ formats: ["csv"] });
  assertThrows(() => mountWith(made), TypeError, "create()");
});

test("describe() and the 406 tell of formats", () => {
  const [route] = Framework.describe({ models: [buildRows({ formats: ["ndjson", "csv"] })] });
  assertEquals(route?.formats, ["ndjson", "csv"]);
  assert(route?.errors.some(({ status, codes }) => status === 406 && codes.length === 1));
  const [other] = Framework.describe({ models: [buildRows({})] });
  assertEquals([other?.formats, other?.errors.some(({ status }) => status === 406)], [
    undefined,
    false,
  ]);
});

test("the OpenAPI document has the formats and the 406", async () => {
  const { operation } = await documentOf([buildRows({ formats: ["ndjson", "csv"] })]);
  const { responses } = operation("GET", "/rows");
  const types = Object.keys(responses[200]?.content ?? {});
  assertEquals(types, ["application/json", "application/x-ndjson", "text/csv"]);
  assert(responses[406] !== undefined);
});
