import { assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
// @ts-types="express-types"
import express from "express";
import { all, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { CERTIFICATE, KEY } from "../fixtures/certificate.ts";
import { test } from "../harness/testing.ts";
import { openGet, readToEnd, sendGet } from "../support/sockets.ts";
import { mount } from "../support/support.ts";

/** Makes a model whose list fails after its answer has begun. */
function buildFailing(): ModelClass {
  async function* fetch() {
    yield* Array.from({ length: 300 }, (_, rank) => ({ rank, text: "x".repeat(1000) }));
    // What was sent is on its way before the list fails.
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error("late");
  }
  @rest({ route: "/rows", methods: [all({ fetch })] })
  class Row extends FrameworkModel {
    @prop()
    text?: string;
  }
  return Row;
}

for (const version of ["1.0", "1.1"]) {
  test(`all() resets the connection of a list that fails over HTTP/${version}`, async () => {
    await using app = await mount([buildFailing()]);
    using error = stub(console, "error");
    using socket = await openGet(`${app.url}/rows`, { version });
    await assertRejects(() => readToEnd(socket), Error, "reset");
    assertEquals(error.calls.length, 1);
  });
}

test("all() resets the connection of a list that fails over TLS", async () => {
  const app = express();
  app.use(Framework.initialize({ models: [buildFailing()] }));
  using error = stub(console, "error");
  const server = createServer({ key: KEY, cert: CERTIFICATE }, app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  using socket = await Deno.connectTls({ hostname: "localhost", port, caCerts: [CERTIFICATE] });
  await sendGet(socket, "/rows", { version: "1.0" });
  await assertRejects(() => readToEnd(socket), Error, "reset");
  assertEquals(error.calls.length, 1);
  await Framework.close(server);
});
