import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { all, create, Framework, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { openStandalone } from "../support/shared_replica_set.ts";
import { openGet } from "../support/sockets.ts";
import { until } from "../support/until.ts";

/** Serves entities of a database whose statements can be made slow, and collects what `onError` gets. */
async function openSlow() {
  const mongo = await openStandalone();
  const connection = await mongoose.createConnection(mongo.uri, { dbName: "cut" }).asPromise();
  const getConnection = () => connection;
  @rest({ route: "/plain", methods: [all(), one(), create()], getConnection })
  @rest({ route: "/hooked", methods: [all({ postFetch: pass })], getConnection })
  class Cut extends FrameworkModel {
    @prop()
    text?: string;
  }
  const errors: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void errors.push(error);
  const app = express().use(Framework.initialize({ models: [Cut], onError }));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  await getModel(Cut, connection).init();
  const data = { failCommands: ["find", "aggregate"], blockConnection: true, blockTimeMS: 5000 };
  await connection.getClient().db("admin").command({
    ...{ configureFailPoint: "failCommand", mode: "alwaysOn", data },
  });
  const { port } = server.address() as AddressInfo;
  return {
    ...{ server, connection, errors, url: `http://127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await mongo.stop();
    },
  };
}

test("what a stop has cut is not reported when the database is closed after it", async () => {
  await using slow = await openSlow();
  let busy = 0;
  const client = slow.connection.getClient();
  client.on("connectionCheckedOut", () => busy++);
  client.on("connectionCheckedIn", () => busy--);
  const paths = ["/plain", "/plain/0123456789abcdef01234567", "/hooked"];
  const sockets = await Promise.all(paths.map((path) => openGet(`${slow.url}${path}`)));
  await until(() => busy === paths.length);
  await Framework.close(slow.server, { timeoutMS: 100 });
  await slow.connection.close();
  await until(() => busy === 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assertEquals(slow.errors.map(String), []);
  for (const socket of sockets) socket.close();
});

test("a database that is closed while a client waits is reported", async () => {
  await using slow = await openSlow();
  const asked = once(slow.connection.getClient(), "connectionCheckedOut");
  const answer = fetch(`${slow.url}/plain`);
  await asked;
  await slow.connection.close();
  const { status } = await answer;
  assertEquals([status, slow.errors.length], [503, 1]);
  await (await answer).body?.cancel();
  await Framework.close(slow.server, { timeoutMS: 100 });
});
