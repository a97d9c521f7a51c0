// Runs alone: it measures the memory of its isolate.
import { assertEquals, assertGreater, assertLess } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { all, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { memoryOf } from "../support/memory_of.ts";
import { type EntityBody, mount } from "../support/support.ts";

/** Makes a model whose list passes a hook. */
function buildRows(): ModelClass {
  @rest({ route: "/rows", methods: [all({ preSend: (_req, row) => row })] })
  class Row extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
    @prop()
    text?: string;
  }
  return Row;
}

async function seed(
  target: ModelClass,
  { count, text }: { count: number; text: string },
): Promise<void> {
  const rows = Array.from({ length: count }, (_, rank) => ({ rank, text }));
  await getModel(target).collection.insertMany(rows);
}

test("all() sends a large list with hooks with its length and tag, and 304 to who has it", async () => {
  const Rows = buildRows();
  await using app = await mount([Rows]);
  await seed(Rows, { count: 500, text: "ü€𝄞".repeat(100) });
  const { headers, body, text } = await app.get<EntityBody[]>("/rows");
  const size = new TextEncoder().encode(text).length;
  assertGreater(size, 400_000);
  assertEquals(headers.get("content-length"), String(size));
  assertEquals(body.map(({ rank }) => rank), Array.from({ length: 500 }, (_, rank) => rank));
  const tag = headers.get("etag") ?? "";
  const same = await app.get("/rows", { headers: { "if-none-match": tag } });
  assertEquals([same.status, same.text, same.headers.get("content-type")], [304, "", null]);
  await seed(Rows, { count: 1, text: "new" });
  const other = await app.get("/rows", { headers: { "if-none-match": tag } });
  assertEquals(other.status, 200);
});

test("all() gives a large list with hooks the tag that the host has chosen", async () => {
  const tags = async (setting: unknown) => {
    const Rows = buildRows();
    await using app = await mount([Rows], {
      prepare: (host) => {
        host.set("etag", setting);
        host.get("/same", async (_req, res) => {
          res.type("json").send(await (await fetch(`${app.url}/rows`)).text());
        });
        host.use(express.json());
      },
    });
    await seed(Rows, { count: 500, text: "x".repeat(300) });
    const [own, expresses] = await Promise.all(
      ["/rows", "/same"].map((path) => app.get(path)),
    );
    assertEquals(own?.text, expresses?.text);
    return [own?.headers.get("etag"), expresses?.headers.get("etag")];
  };
  for (const setting of ["weak", "strong", false, (body: Uint8Array) => `"${body.length}"`]) {
    const [own, expresses] = await tags(setting);
    assertEquals(own, expresses);
    assertEquals(own === null, setting === false);
  }
});

test("all() answers HEAD for a large list with hooks with its headers alone", async () => {
  const Rows = buildRows();
  await using app = await mount([Rows]);
  await seed(Rows, { count: 500, text: "x".repeat(300) });
  const get = await app.get("/rows");
  const head = "HEAD /rows HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const { status, body, headers, closed } = await requestRaw(app.url, head);
  assertEquals([status, body, closed], [200, "", true]);
  for (const name of ["content-length", "etag", "content-type"]) {
    assertEquals(headers[name], get.headers.get(name) ?? "none");
  }
});

/** Reads an answer, and keeps nothing of it; gives its size. */
async function readAway(url: string): Promise<number> {
  let size = 0;
  for await (const piece of (await fetch(url)).body ?? []) size += piece.length;
  return size;
}

test("all() keeps the text of a large list with hooks once", async () => {
  const text = "x".repeat(1_000_000);
  async function* fetch() {
    for (let rank = 0; rank < 100; rank++) yield await Promise.resolve({ rank, text });
  }
  @rest({ route: "/rows", methods: [all({ fetch, preSend: (_req, row: object) => row })] })
  class Large extends FrameworkModel {}
  await using app = await mount([Large]);
  let size = 0;
  const more = await memoryOf(async () => size = await readAway(`${app.url}/rows`));
  assertGreater(size, 100_000_000);
  assertLess(more, 240_000_000);
});
