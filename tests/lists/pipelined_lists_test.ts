import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
} from "../../mod.ts";
import type { HooksOf, ModelClass } from "../../mod.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { idleCursors, until } from "../support/until.ts";

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

/** Makes a model that notes which operations have begun. */
function noteRows(begun: string[], hooks: HooksOf<Row> = {}): ModelClass {
  const note = (req: FrameworkRequest) => {
    begun.push(req.framework.operation);
    return true;
  };
  @rest({
    route: "/rows",
    methods: [all<Row>({ preFetch: note, ...hooks }), one({ preFetch: note })],
  })
  class Rows extends Row {}
  return Rows;
}

async function seed(target: ModelClass, count: number, size: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({ text: "x".repeat(size) }));
  await getModel(target).collection.insertMany(rows);
}

/** Writes requests to a socket at once, and reads nothing. */
async function pipeline(url: string, ...paths: string[]): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(linesOf(paths)));
  return socket;
}

function linesOf(paths: readonly string[]): string {
  return paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join("");
}

const pass = (_req: unknown, row: object) => row;
const MISSING = `/rows/${"0".repeat(24)}`;

for (const [way, hooks] of [["stream", {}], ["gather", { postFetch: pass }]] as const) {
  test(`all() does not begin to ${way} a list before it can be sent`, async () => {
    const begun: string[] = [];
    const Rows = noteRows(begun, hooks);
    await using app = await mount([Rows]);
    await seed(Rows, 6000, 2000);
    const socket = await pipeline(app.url, ...Array<string>(20).fill("/rows"), MISSING);
    await until(() => begun.includes("one") && begun.includes("all"));
    assertEquals(begun.filter((operation) => operation === "all").length, 1);
    socket.close();
    await until(async () => (await idleCursors()).length === 0);
    assertEquals(begun.filter((operation) => operation === "all").length, 1);
  });
}

test("all() leaves no cursor behind when a client goes that has asked for many lists at once", async () => {
  const Rows = noteRows([]);
  await using app = await mount([Rows]);
  await seed(Rows, 6000, 2000);
  for (let left = 3; left > 0; left--) {
    const socket = await pipeline(app.url, ...Array<string>(25).fill("/rows"));
    await socket.read(new Uint8Array(1000));
    await until(async () => (await idleCursors()).length === 1);
    socket.close();
    await until(async () => (await idleCursors()).length === 0);
  }
});

test("all() answers every list of a connection in order, behind answers of the host too", async () => {
  const begun: string[] = [];
  const Rows = noteRows(begun);
  const gate = Promise.withResolvers<void>();
  await using app = await mount([Rows], {
    prepare: (host) => {
      host.get("/slow", async (_req, res) => {
        await gate.promise;
        res.send("slow");
      });
      host.use(express.json());
    },
  });
  await seed(Rows, 100, 2000);
  const last = "GET /rows HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const answer = requestRaw(app.url, linesOf(["/slow", "/rows", MISSING, "/rows"]) + last);
  await until(() => begun.includes("one"));
  gate.resolve();
  const { text, closed } = await answer;
  const order = text.match(/HTTP\/1\.1 \d+|slow|\[\{"_id|\}\]/g);
  const list = ["HTTP/1.1 200", '[{"_id', "}]"];
  assertEquals(order, ["HTTP/1.1 200", "slow", ...list, "HTTP/1.1 404", ...list, ...list]);
  assertEquals([closed, begun], [true, ["one", "all", "all", "all"]]);
});

test("one() runs at most 16 times before the earlier answers of its connection are sent", async () => {
  const begun: string[] = [];
  const Rows = noteRows(begun);
  const gate = Promise.withResolvers<void>();
  let arrived = 0;
  await using app = await mount([Rows], {
    prepare: (host) =>
      host.get("/slow", async (_req, res) => {
        await gate.promise;
        res.send("slow");
      }).use((_req, _res, next) => {
        arrived++;
        next();
      }),
  });
  await seed(Rows, 1, 200_000);
  const row = await getModel(Rows).findOne().orFail();
  const path = `/rows/${row._id}`;
  const last = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  const paths = Array<string>(100).fill(path);
  const answer = requestRaw(app.url, linesOf(["/slow", ...paths]) + last);
  await until(() => arrived === 101);
  await app.get(MISSING);
  assertEquals(begun.length, 17);
  gate.resolve();
  const { text } = await answer;
  assertEquals(text.match(/"text":"x{200000}"/g)?.length, 101);
  assertEquals(begun.length, 102);
});
