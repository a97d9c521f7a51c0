import { assert, assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import fc from "fast-check";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
} from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { runCurl, sendCurl } from "../harness/curl.ts";
import { asQueryMethod, assertSameAnswer } from "../support/as_query_method.ts";
import { pass } from "../support/both_paths.ts";
import { casesOf } from "../harness/report.ts";
import { longTest, test } from "../harness/testing.ts";
import { documents, filters, JudgedFields } from "../q/q_arbitraries.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

/** What hooks have seen of their requests. */
const seen: unknown[] = [];

function note(req: FrameworkRequest): boolean {
  const { method, url, query } = req;
  seen.push({ method, url, query: { ...query } });
  return req.get("x-refused") === undefined;
}

@rest({
  route: "/films",
  methods: [
    all({
      preFetch: note,
      page: { size: 2, max: 100 },
      sort: ["year", "name"],
      select: ["name", "year"],
      search: ["name"],
      populate: { director: true },
      count: true,
      formats: ["ndjson", "csv"],
      groups: { by: ["year", { at: "day" }], count: true, sum: ["year"], timeZone: ["UTC"] },
      distinct: ["year"],
      parameters: ["archived"],
    }),
    one(),
    create(),
    removeAll({ q: "required" }),
  ],
})
@rest({ route: "/live", methods: [all({ live: true, formats: ["csv"] })] })
@rest({ route: "/bare", methods: [all()] })
@rest({ route: "/unlisted", methods: [one(), create()] })
class Film extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
  @prop({ type: Date })
  at?: Date;
  @prop({ ref: "QueryPerson" })
  director?: Ref<QueryPerson>;
}

@rest({ route: "/people", methods: [one()] })
class QueryPerson extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [all({ page: { max: 5 }, sort: ["year"] }), create()] })
  @arrayProp({ items: Film })
  films?: Ref<Film>[];
}

const MODELS = [Film, QueryPerson];

async function open(options = {}): Promise<Mounted & { readonly person: string }> {
  seen.length = 0;
  const app = await mount(MODELS, {
    queryMethod: true,
    prepare: (app) => app.use(express.json({ limit: "1mb" })),
    ...options,
  });
  const person = await getModel(QueryPerson).create({ name: "Ann" });
  const films = await getModel(Film).create(
    Array.from({ length: 5 }, (_, index) => ({
      name: `film ${index}`,
      year: 2000 + index % 3,
      director: person._id as never,
    })),
  );
  await getModel(QueryPerson).updateOne({ _id: person._id }, {
    films: films.map(({ _id }) => _id),
  });
  return Object.assign(app, { person: String(person._id) });
}

const QUERIES = [
  "",
  '?q={"year":{"$gte":2001}}',
  "?sort=-year,name&limit=3&skip=1",
  "?select=name&populate=director&limit=1",
  "?search=film&limit=3",
  "?group=year&sum=year&sort=-count",
  "?group=at&tz=UTC",
  "?group=year&tz=Mars/X",
  "?distinct=year",
  "?archived=true",
  "?other=1",
  "?limit=0",
  "?limit=101",
  "?limit=1.5",
  "?limit=x",
  "?sort=other",
  "?select=other,name",
  "?populate=name",
  "?after=%00",
  '?q={"other":1}',
  '?q={"year":"x"}',
  "?q=[]",
  "?q=",
  "?q=nonsense",
  '?q={"year":{"$where":"1"}}',
  '?q={"__proto__":1}',
  '?q={"name":"\\ud800"}',
  "?q[year]=2001",
  "?limit[a]=1",
  "?__proto__=1",
];

for (const options of [{}, { strict: onlyStrict("parameters") }]) {
  const router = "strict" in options ? "strict" : "plain";
  test(`QUERY answers what GET answers, of a ${router} router`, async (t) => {
    await using app = await open(options);
    for (const query of QUERIES) {
      await t.step(query, async () => {
        seen.length = 0;
        const asked = asQueryMethod(`/films${query}`);
        assert(asked !== undefined);
        for (const headers of [{}, { prefer: "count=exact" }, { accept: "text/csv" }]) {
          const byGet = await app.get(`/films${query}`, { headers });
          const byQuery = await app.send("QUERY", asked.path, { headers, body: asked.body });
          assertSameAnswer(byQuery, byGet, query);
        }
        const [get, asGet] = [seen[0], seen[1]] as { method: string; query: object }[];
        assertEquals([asGet?.method, asGet?.query], ["GET", get?.query]);
      });
    }
  });
}

const schemaOptions = {
  collection: "query_method_judged",
  minimize: false,
  versionKey: false,
} as const;

@rest({ route: "/fast", methods: [all()], schemaOptions })
@rest({ route: "/slow", methods: [all({ preSend: pass })], schemaOptions })
class Judged extends JudgedFields {}

test("QUERY answers what GET answers to random filters", async () => {
  await using app = await mount([Judged], { queryMethod: true });
  const property = fc.asyncProperty(documents, filters, async (given, q) => {
    const { collection } = getModel(Judged);
    await collection.deleteMany({});
    await collection.insertMany(given.map((each) => ({ ...each })));
    for (const path of ["/fast", "/slow"]) {
      const byGet = await app.get(`${path}${asQuery(q)}`);
      assertSameAnswer(await app.send("QUERY", path, { body: { q } }), byGet, JSON.stringify(q));
    }
  });
  const seed = Number(Deno.env.get("Q_SEED") ?? 20261128);
  await fc.assert(property, { seed, numRuns: Number(Deno.env.get("Q_RUNS") ?? casesOf(50)) });
});

test("QUERY takes a filter of 100 kB, on sub-resources too", async () => {
  await using app = await open({ limits: { query: { maxList: 10_000 } } });
  const names = Array.from({ length: 6000 }, (_, index) => `another name ${index}`);
  const q = { name: { $in: [...names, "film 3"] } };
  assert(JSON.stringify(q).length > 100_000);
  for (const path of ["/films", `/people/${app.person}/films`]) {
    const { status, body } = await app.send<{ name: string }[]>("QUERY", path, { body: { q } });
    assertEquals([path, status, body.map(({ name }) => name)], [path, 200, ["film 3"]]);
  }
});

test("the links of QUERY carry what the next body needs, and no more", async () => {
  await using app = await open();
  const body = { q: { year: { $gte: 2000 } }, sort: ["-year"], limit: 2 };
  const names: string[] = [];
  let next: object = {};
  for (let page = 0; page < 3; page++) {
    const reply = await app.send<{ name: string }[]>("QUERY", "/films", {
      body: { ...body, ...next },
    });
    names.push(...reply.body.map(({ name }) => name));
    const link = reply.headers.get("link");
    if (page === 2) assertEquals(link, null);
    else {
      const [, after = ""] = /^<\/films\?after=([^&>]+)>; rel="next"$/.exec(link ?? "") ?? [];
      assert(after !== "", String(link));
      next = { after: decodeURIComponent(after) };
    }
  }
  assertEquals(names, ["film 2", "film 1", "film 4", "film 0", "film 3"]);
  const skipped = await app.send("QUERY", "/films", { body: { ...body, skip: 2 } });
  assertEquals(
    skipped.headers.get("link"),
    '</films?skip=4>; rel="next", </films?skip=0>; rel="prev", </films?skip=0>; rel="first"',
  );
  const first = await app.send("QUERY", "/films", { body: { ...body, skip: 0 } });
  assertEquals(first.body, (await app.send("QUERY", "/films", { body })).body);
});

const REFUSED: [what: string, options: object, status: number, message: string][] = [
  ["no body", {}, 400, "The body is missing"],
  ["a list", { body: [] }, 400, "The body is not a JSON object"],
  [
    "a form",
    { raw: "q=1", headers: { "content-type": "application/x-www-form-urlencoded" } },
    415,
    "",
  ],
  ["no media type", { raw: "{}" }, 415, "The Content-Type is not JSON"],
  ["null", { body: { limit: null } }, 400, 'Parameter "limit" takes one value'],
  ["an object", { body: { sort: {} } }, 400, 'Parameter "sort" takes a list of texts'],
  ["numbers in a list", { body: { sort: [1] } }, 400, 'Parameter "sort" takes a list of texts'],
  ["a list of one", { body: { limit: ["1"] } }, 400, 'Parameter "limit" takes one value'],
  [
    "half a pair",
    { raw: '{"search":"\\ud800"}' },
    400,
    'Parameter "search" takes well-formed text',
  ],
  [
    "a rounded number",
    { raw: '{"q":{"year":9007199254740993}}' },
    400,
    'Parameter "q" has a number',
  ],
  [
    "an infinite number",
    { raw: '{"q":{"year":{"$lt":1e999}}}' },
    400,
    'Parameter "q" has a number',
  ],
  [
    "a deep body",
    { raw: `{"q":${'{"a":'.repeat(200)}1${"}".repeat(200)}}` },
    400,
    "The body is nested",
  ],
];

test("QUERY refuses a body after the preFetch hook", async (t) => {
  await using app = await open();
  for (const [what, given, status, message] of REFUSED) {
    await t.step(what, async () => {
      const type = "body" in given || what === "no media type" || "headers" in given
        ? {}
        : { "content-type": "application/json" };
      const options = {
        ...given,
        headers: { ...type, ...(given as { headers?: object }).headers },
      };
      const reply = await app.send<ErrorBody>("QUERY", "/films", options);
      assertEquals([reply.status, reply.body.message.slice(0, message.length)], [status, message]);
      const refused = { ...options, headers: { ...options.headers, "x-refused": "1" } };
      assertEquals((await app.send("QUERY", "/films", refused)).status, 403);
    });
  }
});

test("QUERY with parameters in the URL answers 400", async () => {
  await using app = await open();
  const { status, body } = await app.send<ErrorBody>("QUERY", "/films?limit=1", {
    body: { limit: 1 },
  });
  const message = "The parameters belong to the body, and not to the URL";
  assertEquals([status, body.message], [400, message]);
  assertEquals((await app.send("QUERY", "/films?", { body: { limit: 1 } })).status, 200);
});

test("QUERY answers 304 to the tag of a list, and has no live lists", async () => {
  await using app = await open();
  const { headers } = await app.send("QUERY", "/films", { body: {} });
  const tag = headers.get("etag") ?? "";
  const again = await app.send("QUERY", "/films", { body: {}, headers: { "if-none-match": tag } });
  assertEquals([again.status, again.text], [304, ""]);
  const accept = { accept: "text/event-stream" };
  const live = await app.send<ErrorBody>("QUERY", "/live", { body: {}, headers: accept });
  const message = 'The header "Accept" takes application/json, text/csv';
  assertEquals([live.status, live.body.message], [406, message]);
  const accepted = { accept: "text/event-stream, application/json;q=0.5" };
  const json = await app.send("QUERY", "/live", { body: {}, headers: accepted });
  assertEquals(json.headers.get("content-type"), "application/json; charset=utf-8");
});

test("answers of a path with a list tell of QUERY, and other paths do not have it", async () => {
  await using app = await open();
  const accepts = async (method: string, path: string, options = {}) =>
    (await app.send(method, path, options)).headers.get("accept-query");
  assertEquals(await accepts("GET", "/films"), "application/json");
  assertEquals(await accepts("GET", "/films?limit=0"), "application/json");
  assertEquals(await accepts("HEAD", "/films"), "application/json");
  assertEquals(await accepts("POST", "/films", { body: {} }), "application/json");
  assertEquals(await accepts("DELETE", "/films"), "application/json");
  assertEquals(await accepts("QUERY", "/films", { body: {} }), "application/json");
  assertEquals(await accepts("GET", `/films/${app.person}`), null);
  assertEquals(await accepts("POST", "/unlisted", { body: {} }), null);
  const statusOf = async (path: string) => (await app.send("QUERY", path, { body: {} })).status;
  assertEquals(await statusOf("/unlisted"), 404);
  assertEquals(await statusOf(`/films/${app.person}`), 404);
  const { headers } = await app.send("OPTIONS", "/bare");
  assertEquals(headers.get("allow"), "GET, HEAD, QUERY");
});

test("without queryMethod, QUERY is no method of a list", async () => {
  await using app = await open({ queryMethod: false });
  const { status } = await app.send("QUERY", "/films", { body: {} });
  assertEquals(status, 404);
  assertEquals((await app.get("/films")).headers.get("accept-query"), null);
});

test("describe() tells of QUERY", () => {
  const told = (queryMethod: boolean) =>
    Framework.describe({ models: MODELS, queryMethod }).filter((route) => route.queryMethod)
      .map(({ path }) => path);
  assertEquals(told(true), ["/films", "/live", "/bare", "/people/:id/films"]);
  assertEquals(told(false), []);
});

test("curl sends QUERY", async () => {
  await using app = await open();
  const body = '{"q":{"name":"film 3"},"select":["name"]}';
  const line = `curl -X QUERY ${app.url}/films -H 'content-type: application/json' -d '${body}'`;
  const output = await runCurl(line) ?? (await sendCurl(line)).text;
  assertEquals(JSON.parse(output).map(({ name }: { name: string }) => name), ["film 3"]);
});

longTest("a filter that is larger than a statement of the database is a 400", async () => {
  const MB = 1024 ** 2;
  const told: unknown[] = [];
  await using app = await open({
    prepare: (host: Express) => host.use(express.json({ limit: 30 * MB })),
    onError: (_req: unknown, error: unknown) => void told.push(error),
  });
  const ask = async (length: number, body: object = {}, headers = {}) => {
    const q = { name: "a".repeat(length) };
    const { status, text } = await app.send("QUERY", "/films", { body: { ...body, q }, headers });
    return [status, text.slice(0, 120)];
  };
  assertEquals(await ask(9 * MB), [200, "[]"]);
  const refused = [
    400,
    '{"code":"BAD_FORMAT","message":"The filter is larger than the database takes"}',
  ];
  assertEquals(await ask(9 * MB, {}, { prefer: "count=exact" }), refused);
  for (const length of [16 * MB + 20_000, 20 * MB]) {
    assertEquals([length, ...await ask(length)], [length, ...refused]);
  }
  assertEquals(await ask(17 * MB, { distinct: "year" }), refused);
  assertEquals(told, []);
});
