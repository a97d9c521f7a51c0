// Runs alone: it measures the memory of its isolate.
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import { all, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import type { ErrorContext, FrameworkRequest, ModelClass } from "../../mod.ts";
import { csvFrame } from "../../src/features/formats/csv.ts";
import { sendAnswer } from "../../src/http/replies/send_answer.ts";
import type { ListAnswer } from "../../src/pipeline/request/answer.ts";
import type { Frame } from "../../src/pipeline/request/frame.ts";
import { pass } from "../support/both_paths.ts";
import { serve } from "../harness/serve.ts";
import { longTest, test } from "../harness/testing.ts";
import { collect } from "../support/collect.ts";
import { openGet, readSome, readToEnd, sendGet } from "../support/sockets.ts";
import { mount, type Mounted, type MountOptions } from "../support/support.ts";
import { idleCursors, until } from "../support/until.ts";

function listOf(pieces: ListAnswer["pieces"], frame?: Frame): ListAnswer {
  return { kind: "list", status: 200, pieces, frame, found: {} };
}

/** Short enough for a test. */
const SHORT = { limits: { sendMS: 400 } };

/** More than the buffers of a connection hold. */
const TEXT = "x".repeat(15_000_000);

const inBatches = (req: FrameworkRequest) => {
  req.framework.options = { batchSize: 100 };
  return true;
};

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

/** Makes a model whose answers are larger than what waits in the buffers of a connection. */
function buildRows(): ModelClass {
  const schemaOptions = { collection: "rows" };
  @rest({ route: "/rows", methods: [all<Row>({ preFetch: inBatches }), one()], schemaOptions })
  @rest({ route: "/hooked", methods: [all<Row>({ preSend: pass })] })
  @rest({ route: "/pages", methods: [all<Row>({ page: { size: 3000, max: 3000 } })] })
  @rest({ route: "/large", methods: [one<Row>({ fetch: () => ({ text: TEXT }) })] })
  class Rows extends Row {}
  return Rows;
}

/** What `onError` gets, as a text. */
type Told = string[];

/** Serves 2,000 rows of 10 kB. */
async function openRows(options: MountOptions): Promise<Mounted & { readonly told: Told }> {
  const Rows = buildRows();
  const told: Told = [];
  const onError = (_req: unknown, error: unknown, context: ErrorContext) => {
    const { code } = error as { code?: string };
    told.push(`${code} ${context.method} ${context.route} ${context.operation}`);
  };
  const app = await mount([Rows], { onError, ...options });
  const text = "x".repeat(10_000);
  await getModel(Rows).collection.insertMany(Array.from({ length: 2000 }, () => ({ text })));
  return Object.assign(app, { told });
}

/** Reads nothing of an answer that has begun, until a server has told of it. */
async function readNothing(app: Mounted & { readonly told: Told }, path: string): Promise<void> {
  using socket = await openGet(app.url + path);
  await readSome(socket);
  await until(() => app.told.length > 0);
  await assertRejects(() => readToEnd(socket), Error, "reset");
}

for (const path of ["/rows", "/hooked", "/pages", "/large/1"]) {
  test(`GET ${path} is cut when its client reads nothing of it`, async () => {
    await using app = await openRows(SHORT);
    using _error = stub(console, "error");
    await readNothing(app, path);
    const [route, operation] = path === "/large/1" ? ["/large/:id", "one"] : [path, "all"];
    assertEquals(app.told, [`SEND_TIMEOUT GET ${route} ${operation}`]);
    await until(async () => (await idleCursors()).length === 0);
    assertEquals((await app.get("/rows/0123456789abcdef01234567")).status, 404);
  });
}

longTest("answers that wait for a client that reads none of them are cut", async () => {
  await using app = await openRows(SHORT);
  using _error = stub(console, "error");
  const { body: [row] } = await app.get<{ _id: string }[]>("/pages?limit=1");
  using socket = await openGet(`${app.url}/rows/${row?._id}`);
  // The server may reset the connection before it has got all requests.
  const failure = await assertRejects(async () => {
    await sendGet(socket, `/rows/${row?._id}`, { count: 2000 });
    await until(() => app.told.length > 0);
    await readToEnd(socket);
  }, Error);
  assertMatch(failure.message, /reset|Broken pipe/);
  await until(() => app.told.length > 0);
  assertEquals(app.told, ["SEND_TIMEOUT GET /rows/:id one"]);
});

longTest("a list is cut when its client reads it too slowly", async () => {
  await using app = await openRows(SHORT);
  using _error = stub(console, "error");
  using socket = await openGet(`${app.url}/rows`);
  const bytes = new Uint8Array(1000);
  await assertRejects(async () => {
    while (await socket.read(bytes) !== null) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }, Deno.errors.ConnectionReset);
  assertEquals(app.told, ["SEND_TIMEOUT GET /rows all"]);
});

longTest("a list is whole for a client that reads it slowly all the time", async () => {
  await using app = await openRows({ limits: { sendMS: 1500 } });
  using socket = await openGet(`${app.url}/rows`, { headers: "Connection: close\r\n" });
  let text = "";
  for (let part = await readSome(socket); part !== ""; part = await readSome(socket)) {
    text += part;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert(text.length > 20_000_000);
  assertMatch(text.slice(-20), /\}(\r\n1\r\n)?\]\r\n0\r\n\r\n$/);
  assertEquals(app.told, []);
});

test("slow clients are reported once at first, however many they are", async () => {
  // All are there before the first one is cut.
  await using app = await openRows({ limits: { sendMS: 3000 } });
  using error = stub(console, "error");
  const sockets = await Promise.all(Array.from({ length: 5 }, () => openGet(`${app.url}/rows`)));
  for (const count of [5, 0]) await until(async () => (await idleCursors()).length === count);
  for (const socket of sockets) await assertRejects(() => readToEnd(socket), Error, "reset");
  assertEquals([app.told.length, error.calls.length], [1, 1]);
});

test("a list holds no text that is sent while its client reads nothing", async () => {
  const made: WeakRef<Uint8Array>[] = [];
  async function* texts() {
    for (;;) {
      const text = new Uint8Array(400_000).fill(0x20);
      made.push(new WeakRef(text));
      yield text;
      yield ",";
    }
  }
  const host = express();
  host.get("/texts", async (_req, res) => {
    await sendAnswer(res, { answer: listOf(texts()), timeoutMS: 60_000 });
  });
  await using server = await serve(host);
  using _socket = await openGet(`${server.url}/texts`);
  const isStalled = async () => {
    const { length } = made;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return length > 3 && length === made.length;
  };
  await until(isStalled);
  const held = () => made.filter((each) => each.deref() !== undefined).length;
  await until(() => {
    collect();
    return held() <= 1;
  });
  assertEquals(held(), 1);
});

const LINE = `{"text":"${"x".repeat(1000)}"}\n`;

test("a table holds its entities once, and not as text, while its clients read nothing", async () => {
  let made = 0;
  async function* texts() {
    for (;;) {
      made++;
      yield Buffer.from(LINE.repeat(4000));
    }
  }
  const host = express();
  const frame = csvFrame([{ names: ["text"], isNumeric: false }]);
  host.get("/texts", async (_req, res) => {
    await sendAnswer(res, { answer: listOf(texts(), frame), timeoutMS: 60_000 });
  });
  await using server = await serve(host);
  collect();
  const { heapUsed } = Deno.memoryUsage();
  const all = Array.from({ length: 10 }, () => openGet(`${server.url}/texts`));
  const sockets = await Promise.all(all);
  const isStalled = async () => {
    const before = made;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return before >= 10 && before === made;
  };
  await until(isStalled);
  await until(() => {
    collect();
    return Deno.memoryUsage().heapUsed - heapUsed < 10_000_000;
  });
  for (const socket of sockets) socket.close();
});
