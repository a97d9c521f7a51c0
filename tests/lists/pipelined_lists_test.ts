import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
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
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
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

/** Sets a host up that answers `/slow` when it is opened, and that counts the other requests. */
function slowHost() {
  const { promise, resolve: open } = Promise.withResolvers<void>();
  const slow = {
    arrived: 0,
    open,
    prepare: (host: Express) =>
      void host.use(express.json()).get("/slow", async (_req, res) => {
        await promise;
        res.send("slow");
      }).use((_req, _res, next) => {
        slow.arrived++;
        next();
      }),
  };
  return slow;
}

test("one() runs at most 16 times before the earlier answers of its connection are sent", async () => {
  const begun: string[] = [];
  const Rows = noteRows(begun);
  const slow = slowHost();
  await using app = await mount([Rows], { prepare: slow.prepare });
  await seed(Rows, 1, 200_000);
  const row = await getModel(Rows).findOne().orFail();
  const path = `/rows/${row._id}`;
  const last = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  const paths = Array<string>(100).fill(path);
  const answer = requestRaw(app.url, linesOf(["/slow", ...paths]) + last, { timeout: 60_000 });
  await until(() => slow.arrived === 101);
  await app.get(MISSING);
  assertEquals(begun.length, 17);
  slow.open();
  const { text, closed } = await answer;
  assertEquals([text.match(/"text":"x{200000}"/g)?.length, closed], [101, true]);
  assertEquals(begun.length, 102);
});

test("a batch does not begin before its answer can be sent", async () => {
  const begun: string[] = [];
  const Rows = noteRows(begun);
  const slow = slowHost();
  const { prepare } = slow;
  const batches = { path: "/batch", max: 20 };
  await using app = await mountOnReplicaSet([Rows], { batch: batches, prepare });
  await seed(Rows, 1, 10);
  const row = await getModel(Rows).findOne().orFail();
  const batch = { requests: [{ id: "a", method: "GET", path: `/rows/${row._id}` }] };
  const body = JSON.stringify(batch);
  const post = (more = "") =>
    `POST /batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${more}` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const sent = linesOf(["/slow"]) + post() + post("Connection: close\r\n");
  const answer = requestRaw(app.url, sent);
  await until(() => slow.arrived === 2);
  assertEquals((await app.post("/batch", batch)).status, 200);
  assertEquals(begun.length, 1);
  slow.open();
  const { text } = await answer;
  assertEquals([text.match(/HTTP\/1.1 200/g)?.length, begun.length], [3, 3]);
});
