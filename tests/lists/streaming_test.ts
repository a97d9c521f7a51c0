import { assert, assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { all, FrameworkModel, getModel, prop, type Ref, rest, RestError } from "../../mod.ts";
import type { FrameworkRequest, HooksOf, ModelClass } from "../../mod.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";
import { idleCursors, until } from "../support/until.ts";

class Row extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop()
  text?: string;
}

/** Makes a model with a list at `/rows` and these hooks. */
function buildRows(hooks: HooksOf<Row> = {}): ModelClass {
  @rest({ route: "/rows", methods: [all<Row>(hooks)] })
  class Rows extends Row {}
  return Rows;
}

async function seed(target: ModelClass, count: number, size: number): Promise<void> {
  const text = "x".repeat(size);
  const rows = Array.from({ length: count }, (_, rank) => ({ rank, text }));
  for (let start = 0; start < count; start += 500) {
    await getModel(target).collection.insertMany(rows.slice(start, start + 500));
  }
}

function assertWhole(rows: EntityBody[], count: number): void {
  assertEquals(rows.length, count);
  assert(rows.every(({ rank }, index) => rank === index));
}

test("all() sends a large list whole, in chunks, without a tag", async () => {
  const Rows = buildRows();
  await using app = await mount([Rows]);
  await seed(Rows, 3000, 200);
  const reply = await app.get<EntityBody[]>("/rows");
  assertWhole(reply.body, 3000);
  assertEquals([reply.headers.get("etag"), reply.headers.get("content-length")], [null, null]);
  assertEquals(reply.headers.get("content-type"), "application/json; charset=utf-8");
});

test("all() sends a large list whole in which large entities stand for identifiers", async () => {
  class Page extends Row {}
  @rest({ route: "/marks", methods: [all({ populate: { page: true } })] })
  class Mark extends FrameworkModel {
    @prop({ ref: Page, unguarded: true })
    page?: Ref<Page>;
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Mark]);
  const { _id: page } = await getModel(Page).create({ text: "x".repeat(3000) });
  const marks = Array.from({ length: 300 }, (_, rank) => ({ page, rank }));
  await getModel(Mark).insertMany(marks);
  assertWhole((await app.get<EntityBody[]>("/marks?populate=page")).body, 300);
});

test("all() begins its answer before the last entity has come", async () => {
  const gate = Promise.withResolvers<void>();
  async function* fetchRows() {
    yield* Array.from({ length: 200 }, (_, rank) => ({ rank, text: "x".repeat(1000) }));
    await gate.promise;
    yield { rank: 200 };
  }
  await using app = await mount([buildRows({ fetch: fetchRows })]);
  const answer = await fetch(`${app.url}/rows`);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader?.read();
  assert(first?.value?.startsWith('[{"rank":0'));
  gate.resolve();
  let text = first?.value ?? "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value;
  }
  assertWhole(JSON.parse(text), 201);
});

test("all() sends a list that fits a chunk with its length and tag, and 304 for the tag", async () => {
  const Rows = buildRows();
  await using app = await mount([Rows]);
  await seed(Rows, 10, 10);
  const reply = await app.get<EntityBody[]>("/rows");
  const etag = reply.headers.get("etag") ?? "";
  assertEquals(reply.headers.get("content-length"), String(reply.text.length));
  const same = await app.get<EntityBody[]>("/rows", { headers: { "if-none-match": etag } });
  assertEquals([same.status, same.text, etag.length > 0], [304, "", true]);
  await seed(Rows, 1, 10);
  assertEquals(
    (await app.get("/rows", { headers: { "if-none-match": etag } })).status,
    200,
  );
});

test("all() sends lists of every size around a chunk as whole JSON, with and without hooks", async () => {
  const pass = (_req: unknown, row: object) => row;
  for (const hooks of [{}, { postFetch: pass }, { preSend: pass }]) {
    const Rows = buildRows(hooks);
    await using app = await mount([Rows]);
    let count = 0;
    for (const more of [1, 1, 62, 2, 64, 300]) {
      const rows = Array.from({ length: more }, () => ({ rank: count++, text: "x".repeat(1024) }));
      await getModel(Rows).collection.insertMany(rows);
      assertWhole((await app.get<EntityBody[]>("/rows")).body, count);
    }
  }
});

test("all() keeps the status of a hook's error, however many entities have passed", async () => {
  for (const name of ["postFetch", "preSend"]) {
    const hook = (_req: unknown, row: Row) => {
      if (row.rank === 2900) throw new RestError(418, { code: "LATE" });
      return row;
    };
    const Rows = buildRows({ [name]: hook });
    await using app = await mount([Rows]);
    await seed(Rows, 3000, 200);
    const reply = await app.get<EntityBody[]>("/rows");
    assertEquals([reply.status, reply.body as unknown], [418, { code: "LATE" }]);
    await until(async () => (await idleCursors()).length === 0);
  }
});

test("all() drops what hooks reject from a large list, and keeps the order of the others", async () => {
  const postFetch = async (_req: unknown, row: Row) => {
    await new Promise((resolve) => setTimeout(resolve, Number(row.rank) % 7));
    return Number(row.rank) % 2 === 0 ? row : null;
  };
  const Rows = buildRows({ postFetch });
  await using app = await mount([Rows]);
  await seed(Rows, 1000, 500);
  const reply = await app.get<EntityBody[]>("/rows");
  const even = Array.from({ length: 500 }, (_, index) => index * 2);
  assertEquals(reply.body.map(({ rank }) => rank), even);
});

test("all() runs the hooks of several entities at once, not of all", async () => {
  let running = 0;
  let most = 0;
  const postFetch = async (_req: unknown, row: Row) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    return row;
  };
  const Rows = buildRows({ postFetch });
  await using app = await mount([Rows]);
  await seed(Rows, 500, 10);
  assertWhole((await app.get<EntityBody[]>("/rows")).body, 500);
  assert(most > 1 && most <= 64, `${most} at once`);
});

test("all() destroys the socket when fetching fails after the answer has begun", async () => {
  async function* fetchRows() {
    yield* Array.from({ length: 200 }, (_, rank) => ({ rank, text: "x".repeat(1000) }));
    await Promise.resolve();
    throw new Error("late");
  }
  await using app = await mount([buildRows({ fetch: fetchRows })]);
  using error = stub(console, "error");
  const reply = await requestRaw(app.url, "GET /rows HTTP/1.1\r\nHost: a\r\n\r\n");
  assertEquals([reply.status, reply.closed], [200, true]);
  assertEquals(reply.text.endsWith("\r\n0\r\n\r\n"), false);
  assertEquals(error.calls.length, 1);
  await assertRejects(() => app.get<EntityBody[]>("/rows"));
});

test("all() destroys the socket when the database loses the cursor after the first byte", async () => {
  const preFetch = (req: FrameworkRequest) => {
    req.framework.options = { batchSize: 20 };
    return true;
  };
  const Rows = buildRows({ preFetch });
  await using app = await mount([Rows]);
  await seed(Rows, 2000, 20_000);
  using _error = stub(console, "error");
  const answer = await fetch(`${app.url}/rows`);
  assertEquals(answer.status, 200);
  await until(async () => {
    const cursors = await idleCursors();
    if (cursors.length === 0) return false;
    const killed = await mongoose.connection.db?.command({ killCursors: "rows", cursors });
    return killed?.cursorsKilled.length === 1;
  });
  await assertRejects(() => answer.text());
});

test("all() closes the cursor when the client leaves", async () => {
  const preFetch = (req: FrameworkRequest) => {
    req.framework.options = { batchSize: 20 };
    return true;
  };
  const Rows = buildRows({ preFetch });
  await using app = await mount([Rows]);
  await seed(Rows, 2000, 20_000);
  const leaving = new AbortController();
  const answer = await fetch(`${app.url}/rows`, { signal: leaving.signal });
  await answer.body?.getReader().read();
  await until(async () => (await idleCursors()).length === 1);
  leaving.abort();
  await until(async () => (await idleCursors()).length === 0);
  assertEquals((await app.get("/nowhere")).status, 404);
});

test("all() stops a custom fetch when the client leaves", async () => {
  const closed = Promise.withResolvers<void>();
  let given = 0;
  async function* fetchRows() {
    try {
      for (;;) yield { rank: given++, text: "x".repeat(10_000) };
    } finally {
      closed.resolve();
    }
  }
  await using app = await mount([buildRows({ fetch: fetchRows })]);
  const leaving = new AbortController();
  const answer = await fetch(`${app.url}/rows`, { signal: leaving.signal });
  await answer.body?.getReader().read();
  leaving.abort();
  await closed.promise;
  assert(given < 100_000);
});

test("all() answers an error of the first query with its status, not with a broken list", async () => {
  const fetchRows = () => getModel(Row).find({ $bad: 1 } as never);
  await using app = await mount([buildRows({ fetch: fetchRows })]);
  using _error = stub(console, "error");
  const reply = await app.get<ErrorBody>("/rows");
  assertEquals([reply.status, reply.body.code], [500, "INTERNAL"]);
});

test("all() answers HEAD with the headers of GET and no body, for lists of any size", async () => {
  const Rows = buildRows();
  await using app = await mount([Rows]);
  const head = "HEAD /rows HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  for (const more of [1, 2000]) {
    await seed(Rows, more, 200);
    const reply = await requestRaw(app.url, head);
    assertEquals([reply.status, reply.body, reply.closed], [200, "", true]);
    assertEquals(reply.headers["content-type"], "application/json; charset=utf-8");
  }
});
