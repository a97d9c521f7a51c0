import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-types="express-types"
import express from "express";
import { all, Framework, FrameworkModel, one, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { openGet, readToEnd } from "../support/sockets.ts";

const TEXT = "x".repeat(8_000_000);

@rest({
  route: "/large",
  methods: [
    all({ fetch: () => [{ text: TEXT }, { text: TEXT }] }),
    one({ fetch: () => ({ text: TEXT }) }),
  ],
})
class Large extends FrameworkModel {
  @prop()
  text?: string;
}

test("Framework.close() waits for clients that read entities and lists slowly", async () => {
  const app = express();
  app.use(Framework.initialize({ models: [Large] }));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = async (path: string) => {
    const socket = await openGet(`http://127.0.0.1:${port}${path}`);
    await socket.read(new Uint8Array(1000));
    return socket;
  };
  const [list, entity] = [await open("/large"), await open("/large/x")];
  const closed = Framework.close(server);
  const [listed, single] = await Promise.all([list, entity].map(readToEnd));
  assert(listed?.endsWith("\r\n0\r\n\r\n") || listed?.endsWith('"}]'), listed?.slice(-20));
  assertEquals(single?.slice(-2), '"}');
  await closed;
});
