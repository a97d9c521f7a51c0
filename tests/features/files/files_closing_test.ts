import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Server } from "node:http";
// @ts-types="express-types"
import express from "express";
import { Framework } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { readSome, readToEnd, sendGet } from "../../support/sockets.ts";
import { until } from "../../support/until.ts";
import { Book, storedCounts } from "./shelf.ts";

const NOTHING = { files: 0, chunks: 0 };

/** Serves a book, and returns the function that closes its server. */
async function serveClosing() {
  let server: Server | undefined;
  const app = await mount([Book], {
    tidy: false,
    prepare: (app) =>
      app.use(express.json(), (req, _res, next) => {
        server ??= (req.socket as object as { readonly server?: Server }).server;
        next();
      }),
  });
  const { _id } = await app.created("/books", { name: "a" });
  return {
    app,
    path: `/books/${_id}`,
    close: () => Framework.close(server as Server, { timeoutMS: 20_000 }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("a closing server does not wait for an upload, and keeps nothing of it", async () => {
  await using served = await serveClosing();
  const { app, path, close } = served;
  const { hostname, port } = new URL(app.url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  const head = `PUT ${path}/cover HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n`;
  await socket.write(new TextEncoder().encode(`${head}begin`));
  await until(async () => (await storedCounts()).files > 0);
  const begun = performance.now();
  const [answer] = await Promise.all([readToEnd(socket), close()]);
  assert(performance.now() - begun < 10_000);
  assertMatch(answer, /^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\n/s);
  assertMatch(answer, /"code":"UNAVAILABLE","message":"The server is closing"/);
  assertEquals(await storedCounts(), NOTHING);
});

test("a closing server refuses a new upload on an open connection", async () => {
  await using served = await serveClosing();
  const { app, path, close } = served;
  const { hostname, port } = new URL(app.url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await sendGet(socket, path);
  assertMatch(await readSome(socket), /^HTTP\/1\.1 200 /);
  const closed = close();
  const head = `PUT ${path}/cover HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n`;
  await socket.write(new TextEncoder().encode(`${head}begin`));
  assertMatch(await readToEnd(socket), /^HTTP\/1\.1 503 /);
  await closed;
  assertEquals(await storedCounts(), NOTHING);
});

test("a closing server sends a file to an open connection, and ends the connection", async () => {
  await using served = await serveClosing();
  const { app, path, close } = served;
  await (await fetch(`${app.url}${path}/cover`, { method: "PUT", body: "one" })).body?.cancel();
  const { hostname, port } = new URL(app.url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await sendGet(socket, path);
  assertMatch(await readSome(socket), /^HTTP\/1\.1 200 /);
  const closed = close();
  await sendGet(socket, `${path}/cover`);
  assertMatch(
    await readToEnd(socket),
    /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\r\n\r\none$/si,
  );
  await closed;
});
