import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-types="express-types"
import express from "express";
import { create, Framework, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { openDatabase } from "../../harness/database.ts";
import { test } from "../../harness/testing.ts";
import { pass } from "../../support/both_paths.ts";

class Row extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

const options = { many: 2, atomic: false, formats: ["ndjson"] } as const;

@rest({ route: "/plain", methods: [create(options)] })
class Plain extends Row {}

@rest({ route: "/hooked", methods: [create({ ...options, preSave: pass as never })] })
class Hooked extends Row {}

let onSave = () => {};

@rest({ route: "/closing", methods: [create({ ...options, preSave: closing as never })] })
class Closing extends Row {}

function closing(_req: unknown, row: Row): Row {
  if (row.name === "b") onSave();
  return row;
}

const ROUTES = [["/plain", Plain], ["/hooked", Hooked]] as const;

/** Serves the models with a server that the test can close. */
async function serve() {
  const database = await openDatabase();
  const app = express();
  app.use(Framework.initialize({ models: [Plain, Hooked, Closing] }));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await Framework.close(server, { timeoutMS: 0 });
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Begins an import; its lines are sent and its answers are read as the test wants. */
function begin(url: string, headers: Record<string, string> = {}) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const answer = fetch(url, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", ...headers },
    body: readable,
  });
  let rest = "";
  let reader: ReadableStreamDefaultReader<string> | undefined;
  return {
    answer,
    send: (...lines: string[]) =>
      writer.write(new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))),
    end: () => writer.close(),
    /** Reads some lines of the answer; fewer at its end. */
    async told(count: number): Promise<{ line: number; status: number; code?: string }[]> {
      reader ??= (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
      while (rest.split("\n").length <= count) {
        const { done, value = "" } = await reader?.read() ?? { done: true };
        rest += value;
        if (done) break;
      }
      const lines = rest.split("\n").slice(0, -1).slice(0, count);
      rest = rest.split("\n").slice(lines.length).join("\n");
      return lines.map((line) => JSON.parse(line));
    },
  };
}

const line = (name: string) => JSON.stringify({ name });

test("an import tells of a batch when it is stored, and stores what has waited a second", async () => {
  await using app = await serve();
  for (const [path, model] of ROUTES) {
    const { send, told, end, answer } = begin(app.url + path);
    await send(line("a"), line("b"));
    assertEquals((await told(2)).map((each) => [each.line, each.status]), [[1, 201], [2, 201]]);
    assertEquals((await answer).headers.get("content-type"), "application/x-ndjson");
    // This batch is not full, and the body has not ended.
    await send("", line("c"));
    assertEquals((await told(1)).map((each) => [each.line, each.status]), [[4, 201]]);
    assertEquals(await getModel(model).countDocuments(), 3);
    await send(line("d"));
    await end();
    assertEquals((await told(9)).map((each) => each.line), [5]);
  }
});

test("an import with return=minimal sends its head with the first batch", async () => {
  await using app = await serve();
  const { send, told, end, answer } = begin(`${app.url}/plain`, { prefer: "return=minimal" });
  await send(line("a"), line("b"));
  assertEquals((await answer).status, 207);
  await send("nonsense");
  await end();
  assertEquals((await told(9)).map((each) => [each.line, each.status]), [[3, 400]]);
});

test("Framework.close() ends an import with a line that says where it stopped", async () => {
  for (const [path, model] of ROUTES) {
    await using app = await serve();
    const { send, told, end } = begin(app.url + path);
    await send(line("a"), line("b"), line("c"));
    assertEquals((await told(2)).map((each) => each.status), [201, 201]);
    const closed = Framework.close(app.server, { timeoutMS: 30_000 });
    const last = await told(9);
    const stopped = last.pop();
    assertEquals([stopped?.status, stopped?.code], [503, "UNAVAILABLE"]);
    const stored = await getModel(model).countDocuments();
    // Every line before it is told.
    assertEquals([last.length, stopped?.line], [stored - 2, stored + 1]);
    await end().catch(() => {});
    await closed;
  }
});

test("Framework.close() loses no line of those that have come with a batch", async () => {
  await using app = await serve();
  let closed: Promise<unknown> | undefined;
  onSave = () => closed = Framework.close(app.server, { timeoutMS: 30_000 });
  const { send, told, end } = begin(`${app.url}/closing`);
  await send(line("a"), line("b"), line("c"), line("d"));
  const last = (await told(9)).at(-1);
  const stored = await getModel(Closing).countDocuments();
  assertEquals([last?.status, last?.line], [503, stored + 1]);
  await end().catch(() => {});
  await closed;
});

test("an import tells of all whole lines of a body that breaks off", async () => {
  await using app = await serve();
  const bytes = new Uint8Array(
    await new Response(
      new Blob([`${line("a")}\n`.repeat(5)]).stream().pipeThrough(new CompressionStream("gzip")),
    ).arrayBuffer(),
  );
  const answer = await fetch(`${app.url}/plain`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "content-encoding": "gzip" },
    body: bytes.subarray(0, -4),
  });
  const told = (await answer.text()).split("\n").slice(0, -1).map((each) => JSON.parse(each));
  assertEquals(told.map((each) => each.status), [...Array(told.length - 1).fill(201), 400]);
  assertEquals(await getModel(Plain).countDocuments(), told.length - 1);
});
