import { assert, assertEquals, assertThrows } from "@std/assert";
import { gzipSync } from "node:zlib";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { stub } from "@std/testing/mock";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  getModel,
  prop,
  rest,
  RestError,
} from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { documentOf } from "../../support/documented.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../../support/support.ts";

class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  year?: number;
  @prop({ unique: true, sparse: true })
  slug?: string;
  @prop({ hidden: true, default: "SECRET" })
  secret?: string;
}

const TAKEN = { many: 4, atomic: false, formats: ["ndjson"] } as const;

@rest({ route: "/plain", methods: [all(), create(TAKEN)] })
class Plain extends Movie {}

/** Refuses what is named so, and notes who came. */
function checked(req: FrameworkRequest, movie: { name: string; year?: number }) {
  if (movie.name === "refused") throw new RestError(422, { code: "REFUSED", message: "No" });
  movie.year = Number(req.headers["x-year"] ?? 1);
  return movie;
}

@rest({ route: "/hooked", methods: [all(), create({ ...TAKEN, preSave: checked as never })] })
class Hooked extends Movie {}

@rest({ route: "/closed", methods: [create({ ...TAKEN, preFetch: () => false })] })
class Closed extends Movie {}

@rest({ route: "/other", methods: [create({ many: 4, atomic: false })] })
class Other extends Movie {}

@rest({
  route: "/keyed",
  methods: [create({ many: 4, atomic: true, formats: ["ndjson"], idempotency: { keep: "1h" } })],
})
class Keyed extends Movie {}

const MODELS = [Plain, Hooked, Closed, Other, Keyed];
const LINES = { "content-type": "application/x-ndjson" };

async function open(): Promise<Mounted> {
  const app = await mount(MODELS);
  await Promise.all(MODELS.map((each) => getModel(each).init()));
  return app;
}

interface Fate extends ErrorBody {
  readonly line: number;
  readonly status: number;
  readonly _id?: string;
  readonly limit?: number;
}

/** Sends lines; gives what is told of each. */
async function send(
  app: Mounted,
  path: string,
  { raw, headers = {} }: { raw: string | Uint8Array<ArrayBuffer>; headers?: object },
): Promise<Fate[]> {
  const { status, text, headers: told } = await app.send("POST", path, {
    raw,
    headers: { ...LINES, ...headers },
  });
  assertEquals([status, told.get("content-type")], [207, "application/x-ndjson"], text);
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

const DIFFICULT = [
  '{"name":"a"}',
  '  {"name":"b","year":"1999"}\r',
  "",
  "nonsense",
  "[]",
  "null",
  '{"year":3}',
  '{"name":"ä€😀","slug":"one"}',
  '{"name":"refused"}',
  "   ",
  '{"name":"c","slug":"one"}',
  '{"name":"last","secret":"x"}',
].join("\n");

/** Sends what is difficult, and checks what is told of it against what is stored. */
async function sendDifficult(app: Mounted, path: string, options: Parameters<typeof send>[2]) {
  const before = (await app.read<EntityBody[]>(path)).map(({ _id }) => _id);
  const fates = await send(app, path, options);
  const slug = before.length === 0 ? 201 : 409;
  const refused = path === "/plain" ? 201 : 422;
  assertEquals(fates.map(({ line, status }) => [line, status]), [
    ...[[1, 201], [2, 201], [4, 400], [5, 400], [6, 400], [7, 400], [8, slug], [9, refused]],
    // In another batch than its equal: within one, either may be created
    ...[[11, 409], [12, 201]],
  ]);
  const codes = fates.flatMap(({ code }) => code === "BAD_FORMAT" ? [code] : []);
  assertEquals([codes.length, Object.keys(fates[5]?.errors ?? {})], [3, ["name"]]);
  const found = await app.read<EntityBody[]>(path);
  const made = found.filter(({ _id }) => !before.includes(_id));
  const told = fates.flatMap(({ _id }) => _id === undefined ? [] : [_id]);
  assertEquals(made.map(({ _id }) => _id).sort(), told.sort());
  assert(path === "/plain" || made.every(({ year }) => year === 7));
}

test("create({ formats }) tells the fate of each line in its order", async () => {
  await using app = await open();
  for (const path of ["/plain", "/hooked"]) {
    for (const raw of [DIFFICULT, `${DIFFICULT}\n`]) {
      await sendDifficult(app, path, { raw, headers: { "x-year": "7" } });
      const headers = { "content-encoding": "gzip", "x-year": "7" };
      await sendDifficult(app, path, { raw: new Uint8Array(gzipSync(raw)), headers });
    }
  }
});

test("create({ formats }) with return=minimal tells of what is not created", async () => {
  await using app = await open();
  const headers = { prefer: "return=minimal" };
  const fates = await send(app, "/plain", { raw: DIFFICULT, headers });
  assertEquals(fates.map(({ line }) => line), [4, 5, 6, 7, 11]);
  assertEquals(await send(app, "/plain", { raw: '{"name":"a"}', headers }), []);
});

test("create({ formats }) takes no lines at all", async () => {
  await using app = await open();
  for (const raw of ["", "\n", "\n \n"]) assertEquals(await send(app, "/plain", { raw }), []);
});

test("create({ formats }) ends at a line that is too long, and tells so", async () => {
  await using app = await open();
  for (const end of ["", "\n"]) {
    const long = JSON.stringify({ name: "x".repeat(3_000_000) }) + end;
    const fates = await send(app, "/plain", { raw: `{"name":"a"}\n${long}{"name":"b"}` });
    assertEquals(fates.map(({ line, status }) => [line, status]), [[1, 201], [2, 413]]);
    assertEquals([fates[1]?.code, fates[1]?.limit], ["PAYLOAD_TOO_LARGE", 1024 * 1024]);
  }
  assertEquals((await app.read<EntityBody[]>("/plain")).length, 2);
});

test("create({ formats }) tells what a body holds that breaks off", async () => {
  await using app = await open();
  const raw = new Uint8Array(gzipSync(`{"name":"a"}\n`.repeat(5_000)).subarray(0, -30));
  const fates = await send(app, "/plain", { raw, headers: { "content-encoding": "gzip" } });
  const { status, code } = fates.at(-1) ?? {};
  assertEquals([status, code], [400, "BAD_FORMAT"]);
  const stored = await app.read<EntityBody[]>("/plain");
  assertEquals(stored.length, fates.filter((fate) => fate.status === 201).length);
});

test("create({ formats }) refuses what it cannot read before it begins", async () => {
  await using app = await open();
  const raw = '{"name":"a"}';
  const statusOf = async (path: string, headers: Record<string, string>) =>
    (await app.send<ErrorBody>("POST", path, { raw, headers })).status;
  assertEquals(await statusOf("/plain", { ...LINES, "content-encoding": "br" }), 415);
  assertEquals(await statusOf("/plain", { "content-type": "text/csv" }), 415);
  const latin = { "content-type": "application/x-ndjson; charset=latin1" };
  assertEquals(await statusOf("/plain", latin), 415);
  assertEquals(await statusOf("/other", LINES), 415);
  assertEquals(await statusOf("/closed", LINES), 403);
  assertEquals(await statusOf("/keyed", { ...LINES, "idempotency-key": "a" }), 400);
  assertEquals(await statusOf("/keyed", LINES), 207);
  assertEquals(await statusOf("/plain", { ...LINES, "if-match": '"1"' }), 412);
  assertEquals((await app.post("/plain", { name: "a" })).status, 201);
  assertEquals((await app.post("/plain", [{ name: "a" }, {}])).status, 207);
});

test("create({ formats }) says where a parser of the application has read the lines", async () => {
  const prepare = (app: Express) => app.use(express.text({ type: "*/*" }));
  await using app = await mount([Plain], { prepare });
  using error = stub(console, "error");
  const { status } = await app.send("POST", "/plain", { raw: '{"name":"a"}', headers: LINES });
  assertEquals([status, error.calls.length], [500, 1]);
});

const WRONG: readonly [object, string][] = [
  [{ formats: ["xml"], many: 4 }, 'needs "ndjson" or "csv" in "formats"'],
  [{ formats: [], many: 4 }, 'needs "ndjson" or "csv" in "formats"'],
  [{ formats: "ndjson", many: 4 }, 'needs a list of formats as "formats"'],
  [{ formats: ["csv"] }, 'needs "many" with "formats"'],
  [{ formats: ["ndjson"] }, 'needs "many" with "formats"'],
  [
    { formats: ["ndjson"], many: 4, idempotency: { keep: "1h", required: true } },
    'cannot have "formats" with "idempotency.required"',
  ],
];

test("create({ formats }) that is wrong is an error at start-up", () => {
  for (const [options, problem] of WRONG) {
    @rest({ route: "/things", methods: [create(options as never)] })
    class Thing extends Movie {}
    const start = () => Framework.initialize({ models: [Thing] });
    assertThrows(start, TypeError, `create() ${problem}`);
  }
});

test("describe() and the OpenAPI document tell of lines", async () => {
  const [, route] = Framework.describe({ models: [Plain] });
  assertEquals([route?.operation, route?.formats], ["create", ["ndjson"]]);
  const { operation } = await documentOf([Plain]);
  const { requestBody, responses } = operation("POST", "/plain");
  const types = ["application/json", "application/x-ndjson"];
  assertEquals(Object.keys(requestBody?.content ?? {}), types);
  assertEquals(Object.keys(responses[207]?.content ?? {}), types);
});
