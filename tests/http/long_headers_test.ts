import { assert, assertEquals } from "@std/assert";
import { createServer, request as sendRequest, type RequestOptions } from "node:http";
// @ts-types="express-types"
import express from "express";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { openDatabase } from "../harness/database.ts";
import { longTest, test } from "../harness/testing.ts";

@rest({
  route: "/notes",
  methods: [
    all({
      formats: ["ndjson", "csv"],
      page: { max: 5 },
      sort: ["title"],
      select: ["title"],
      search: ["title"],
      groups: { by: ["title"] },
      count: true,
    }),
    one(),
    create({ idempotency: { keep: "1h" } }),
    update(),
    updateAll({ max: 5, fields: ["title"], atomic: false }),
    replace(),
    remove(),
  ],
})
class Note extends FrameworkModel {
  @prop()
  title?: string;
}

@rest({ route: "/lines", methods: [create({ many: 4, atomic: false, formats: ["ndjson"] })] })
class Line extends Note {}

const LENGTH = 64 * 1024;

const MAX_HEADER = 8 * LENGTH;

/** No reader of a header may take this long for 64 kB, on a busy machine either: a quadratic one takes longer. */
const LIMIT_MS = 2500;

const CLASSES = [
  "a",
  "0",
  " ",
  "\t",
  '"',
  ",",
  ";",
  "=",
  "\\",
  "*",
  "/",
  "-",
  "W/",
  "?",
  "<",
  ".",
  "$",
];
const MIXED = ['W/"a",', "a/b;", "a=b,", ', "', '\\"', " ,", "; ", "a;q=", "%20", "%5B"];

/** Texts of 64 kB that repeat a class of characters, with other ones around it. */
function textsOf(unit: string): string[] {
  const run = unit.repeat(LENGTH / unit.length);
  return [run, `a${run}x`, `"${run}x`, `a=1${run}x`, `a="${run}x`, `*/*;${run}x`];
}

const TEXTS = [...CLASSES, ...MIXED].flatMap(textsOf);

const INNER_RUNS = TEXTS.filter((text) => text.startsWith("a") && text.endsWith("x"));

const HEADERS: readonly [string, readonly string[]][] = [
  ["accept", ["GET /notes", "GET /none"]],
  ["prefer", ["GET /notes", "PATCH /notes?q={}", "POST /notes"]],
  ["if-none-match", ["GET /notes", "PUT /notes/0123456789abcdef01234567"]],
  ["if-match", ["PATCH /notes/0123456789abcdef01234567"]],
  ["idempotency-key", ["POST /notes"]],
  ["content-type", ["POST /notes", "POST /lines"]],
];

const PARAMETERS = ["q", "sort", "select", "search", "after", "limit", "group", "sum", "other"];

/** Sends a request whose URL may be longer than `fetch()` allows. */
function statusOf({ body, ...options }: RequestOptions & { readonly body: string }) {
  return new Promise<number | undefined>((resolve, reject) => {
    sendRequest({ host: "127.0.0.1", maxHeaderSize: MAX_HEADER, ...options }, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode));
    }).once("error", reject).end(body);
  });
}

/** Serves notes for headers and URLs of any length, and sends requests that must not take long. */
async function serveNotes() {
  const database = await openDatabase();
  const app = express();
  const api = Framework.initialize({ models: [Note, Line] });
  app.use(express.json(), api).use(/\/at\/*(?=\/)/, api).use(Framework.errors());
  const server = createServer({ maxHeaderSize: MAX_HEADER }, app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  return {
    async send(
      request: string,
      { name, text }: { name?: string | undefined; text: string },
      tries = 3,
    ): Promise<number | undefined> {
      const [method = "", path = ""] = request.split(" ");
      const body = method === "GET" ? "" : "{}";
      const headers = { "content-type": "application/json", ...name && { [name]: text } };
      const start = performance.now();
      const status = await statusOf({ port, method, path, headers, body });
      const taken = performance.now() - start;
      // Other load makes single requests slow, and never three in a row as slow as a quadratic one.
      if (taken >= LIMIT_MS && tries > 1) return this.send(request, { name, text }, tries - 1);
      const told = `${request} ${name} ${text.slice(0, 12)}: ${status}, ${taken} ms`;
      assert(status !== 431 && status !== 500 && taken < LIMIT_MS, told);
      return status;
    },
    async [Symbol.asyncDispose]() {
      await Framework.close(server);
      await database[Symbol.asyncDispose]();
    },
  };
}

for (const [name, requests] of HEADERS) {
  longTest(`the header ${name} is read in linear time, whatever its characters are`, async () => {
    await using served = await serveNotes();
    for (const request of requests) {
      for (const text of TEXTS) await served.send(request, { name, text });
    }
  });
}

longTest("parameters are read in linear time, whatever their characters are", async () => {
  await using served = await serveNotes();
  for (const text of INNER_RUNS) {
    for (const name of PARAMETERS) {
      await served.send(`GET /notes?${name}=${encodeURIComponent(text)}`, { text });
    }
  }
});

test("paths are read in linear time, whatever their characters are", async () => {
  await using served = await serveNotes();
  for (const text of INNER_RUNS) {
    const path = text.replaceAll(/[\s"<?]/g, encodeURIComponent);
    for (const method of ["GET", "PUT"]) await served.send(`${method} /notes/${path}`, { text });
  }
});

test("the path of a new entity is told in linear time, wherever the framework is mounted", async () => {
  await using served = await serveNotes();
  const request = `POST /at${"/".repeat(LENGTH)}notes`;
  assertEquals(await served.send(request, { text: "slashes" }), 201);
});
