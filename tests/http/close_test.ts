import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
// @ts-types="express-types"
import express from "express";
import type { Router } from "express-types";
import { Framework, FrameworkModel, one, rest, RestError } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { CERTIFICATE, KEY } from "../fixtures/certificate.ts";
import { test } from "../harness/testing.ts";
import { openGet, readSome, readToEnd, sendGet } from "../support/sockets.ts";

/** A host with answers that wait, a large one, and a small one. */
async function listen() {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const app = express();
  app.get("/small", (_req, res) => void res.send("small"));
  app.get("/waits", async (_req, res) => {
    res.write("begun,");
    await gate.promise;
    res.end("done");
  });
  app.get("/large", (_req, res) => void res.send("x".repeat(30_000_000)));
  app.use(serveSlow(async () => {
    asked.resolve();
    await gate.promise;
  }));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, gate: gate.resolve, asked: asked.promise };
}

/** Serves an entity that no database holds, and one that is refused. */
function serveSlow(wait: () => Promise<void>): Router {
  @rest({ route: "/slow", methods: [one({ fetch })] })
  class Slow extends FrameworkModel {}
  async function fetch({ params: { id } }: FrameworkRequest): Promise<Slow> {
    await wait();
    if (id === "refused") throw new RestError(418, "Refused");
    return new Slow();
  }
  return Framework.initialize({ models: [Slow] });
}

/** Long enough for a process to have closed what it would close at once. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/** Whether a connection has ended without a word. */
async function isEnded(socket: Deno.TcpConn): Promise<boolean> {
  return await socket.read(new Uint8Array(1)).catch(() => null) === null;
}

test("Framework.close() answers what is under way, and takes no new connections", async () => {
  const { server, url, gate } = await listen();
  using waiting = await openGet(`${url}/waits`);
  assertMatch(await readSome(waiting), /begun,/);
  const closed = Framework.close(server);
  await assertRejects(() => openGet(`${url}/small`), Deno.errors.ConnectionRefused);
  gate();
  assertMatch(await readToEnd(waiting), /done/);
  await closed;
  assertEquals(server.listening, false);
});

test("Framework.close() ends idle connections", async () => {
  const { server, url } = await listen();
  using idle = await openGet(`${url}/small`);
  assertMatch(await readSome(idle), /small/);
  const closed = Framework.close(server, { timeoutMS: 600_000 });
  assert(await isEnded(idle));
  await closed;
});

test("Framework.close() answers a request that is on its way on an idle connection", async () => {
  const { server, url } = await listen();
  using idle = await openGet(`${url}/small`);
  assertMatch(await readSome(idle), /Connection: keep-alive\r\n[^]*small$/);
  const closed = Framework.close(server);
  await soon();
  await sendGet(idle, "/small");
  assertMatch(await readToEnd(idle), /Connection: close\r\n[^]*small$/);
  await closed;
});

test("Framework.close() lets the client of an answer that had begun send one more request", async () => {
  const { server, url, gate } = await listen();
  using waiting = await openGet(`${url}/waits`);
  let text = await readSome(waiting);
  const closed = Framework.close(server);
  gate();
  while (!text.endsWith("0\r\n\r\n")) text += await readSome(waiting);
  await soon();
  await sendGet(waiting, "/small");
  assertMatch(await readToEnd(waiting), /Connection: close\r\n[^]*small$/);
  await closed;
});

for (const id of ["told", "refused"]) {
  test(`Framework.close() sends the client of a request in progress away: ${id}`, async () => {
    const { server, url, gate, asked } = await listen();
    using waiting = await openGet(`${url}/slow/${id}`);
    await asked;
    const closed = Framework.close(server);
    gate();
    const status = id === "told" ? "200 OK" : "418 I'm a Teapot";
    assertMatch(
      await readToEnd(waiting),
      RegExp(`^HTTP/1.1 ${status}\r\n[^]*Connection: close\r\n`),
    );
    await closed;
  });
}

test("Framework.close() sends busy clients away with Connection: close", async () => {
  const { server, url, gate } = await listen();
  using busy = await openGet(`${url}/waits`);
  assertMatch(await readSome(busy), /begun,/);
  const closed = Framework.close(server);
  const second = once(server, "request");
  await sendGet(busy, "/small");
  await second;
  gate();
  const text = await readToEnd(busy);
  assertMatch(text, /done[^]*HTTP\/1\.1 200 OK[^]*Connection: close\r\n[^]*small$/);
  await closed;
});

test("Framework.close() waits for a client that reads slowly", async () => {
  const { server, url } = await listen();
  using slow = await openGet(`${url}/large`);
  const head = await readSome(slow);
  const closed = Framework.close(server);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const size = head.split("\r\n\r\n")[1]?.length ?? 0;
  assertEquals(size + (await readToEnd(slow)).length, 30_000_000);
  await closed;
});

test("Framework.close() cuts what is still busy when the time is over", async () => {
  const { server, url } = await listen();
  using waiting = await openGet(`${url}/waits`);
  using slow = await openGet(`${url}/large`);
  using silent = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) });
  await Promise.all([readSome(waiting), readSome(slow)]);
  await Framework.close(server, { timeoutMS: 100 });
  const texts = await Promise.all([waiting, slow].map((each) => readToEnd(each).catch(() => "")));
  assert(texts.every((text) => !/done|0\r\n\r\n$/.test(text) && text.length < 29_000_000));
  assert(await isEnded(silent));
});

test("Framework.close() waits no longer for what HTTP does not know: WebSockets, open handshakes of TLS", async () => {
  const upgrading = createServer().on("upgrade", (_req, socket) => void socket.write("taken"));
  for (const server of [upgrading, createTlsServer({ cert: CERTIFICATE, key: KEY })]) {
    await once(server.listen(0, "127.0.0.1"), "listening");
    using socket = await Deno.connect({ port: (server.address() as AddressInfo).port });
    if (server === upgrading) {
      await sendGet(socket, "/", { headers: "Connection: upgrade\r\nUpgrade: a\r\n" });
      assertEquals(await readSome(socket), "taken");
    }
    await Framework.close(server, { timeoutMS: 100 });
    await Framework.close(server, { timeoutMS: 600_000 });
    assertEquals(server.listening, false);
  }
});

test("Framework.close() may be called again, and on a server that does not listen", async () => {
  const { server, url, gate } = await listen();
  using waiting = await openGet(`${url}/waits`);
  await readSome(waiting);
  const order: string[] = [];
  const calls = [1, 2].map((call) => Framework.close(server).then(() => order.push(`end ${call}`)));
  order.push("gate");
  gate();
  await readToEnd(waiting);
  await Promise.all(calls);
  assertEquals(order, ["gate", "end 1", "end 2"]);
  await Framework.close(server);
  await Framework.close(createServer());
});

test("Framework.close() refuses a time that is none", () => {
  for (const timeoutMS of [-1, NaN, Infinity, 0.5, 2 ** 31, "1" as unknown as number]) {
    assertThrows(() => Framework.close(createServer(), { timeoutMS }), RangeError, "timeoutMS");
  }
  const before: object = { within: 100 };
  assertThrows(
    () => Framework.close(createServer(), before),
    TypeError,
    `no option "within", which is now`,
  );
});

test("Framework.close() ends connections that have never sent a request, and waits for one that has begun", async () => {
  const { server, url } = await listen();
  const { hostname, port } = new URL(url);
  const open = () => Deno.connect({ hostname, port: Number(port) });
  using unused = await open();
  using begun = await open();
  await begun.write(new TextEncoder().encode("GET /small HTTP/1.1\r\n"));
  await soon();
  const closed = Framework.close(server, { timeoutMS: 600_000 });
  assert(await isEnded(unused));
  await begun.write(new TextEncoder().encode("Host: a\r\n\r\n"));
  assertMatch(await readToEnd(begun), /small/);
  await closed;
});
