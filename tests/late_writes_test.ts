import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { Framework, getModel } from "../mod.ts";
import type { ModelClass, OperationName } from "../mod.ts";
import { startMongo } from "./harness/mongo/start_mongo.ts";
import { request } from "./harness/request.ts";
import { serve } from "./harness/serve.ts";
import type { Served } from "./harness/serve.ts";
import { test } from "./harness/testing.ts";
import { callsFor, hooked } from "./hooked.ts";
import type { HooksByOperation } from "./hooked.ts";

/** What is stored before a write that comes too late. */
const STORED = { name: "stored", rank: 0 };

/** Names of commands that write. */
const WRITES = new Set(["insert", "update", "delete", "findAndModify"]);

/** Occupies the only connection of a pool for longer than a request waits. */
function occupy(connection: Connection): Promise<unknown> {
  const command = { sleep: 1, lock: "none", millis: 2500 };
  return connection.getClient().db("admin").command(command);
}

/** Hooks that occupy the connection right before the write; without entity hooks, before anything. */
function hooksThat(occupies: () => void, direct: boolean): HooksByOperation {
  const late = (_req: unknown, entity: object) => {
    occupies();
    return entity;
  };
  const early = () => {
    occupies();
    return true;
  };
  const hooks = direct ? { preFetch: early } : { preSave: late as never };
  return { create: hooks, update: hooks, remove: hooks, removeAll: hooks };
}

/** Serves a model that brings its own connection; no database is opened for it. */
async function serveOnly(model: ModelClass): Promise<Served> {
  const app = express();
  app.use(express.json(), Framework.initialize({ models: [model], maxTimeMS: 300 }));
  return await serve(app);
}

/** Runs a write that gets no connection in time; gives its status, and which writes were sent in the end. */
async function writeLate(uri: string, operation: OperationName, direct: boolean) {
  const dbName = `late_${operation}_${direct}`;
  const options = { dbName, maxPoolSize: 1, monitorCommands: true };
  await using connection = Object.assign(
    await mongoose.createConnection(uri, options).asPromise(),
    {
      [Symbol.asyncDispose]: () => connection.close(),
    },
  );
  const sent: string[] = [];
  let busy: Promise<unknown> = Promise.resolve();
  const hooks = hooksThat(() => busy = occupy(connection), direct);
  const Item = hooked(hooks, { getConnection: () => connection });
  const items = getModel(Item, connection);
  const { _id } = await items.create(STORED);
  await using app = await serveOnly(Item);
  connection.getClient().on("commandStarted", ({ commandName }) => sent.push(commandName));
  const [, method = "", path = ""] = callsFor(String(_id)).find(([name]) => name === operation) ??
    [];
  const body = ["POST", "PATCH"].includes(method) ? { body: { name: "late" } } : {};
  const { status } = await request(app.url + path, { method, ...body });
  await busy;
  // Connections are given in the order in which they were asked for: what came before has been sent by now.
  const stored = await items.find().lean();
  const names = stored.map(({ name }) => name);
  const writes = sent.filter((name) => WRITES.has(name));
  return `${status}, stored: ${names}, sent: ${writes}`;
}

test("a write that gets no connection in time is never sent, on any path", async () => {
  const args = ["--setParameter", "enableTestCommands=1"];
  await using mongo = await startMongo({ args });
  const operations: OperationName[] = ["create", "update", "remove", "removeAll"];
  const cases = [
    ...operations.map((each) => [each, true] as const),
    ...operations.slice(2).map((each) => [each, false] as const),
  ];
  const outcomes = await Promise.all(cases.map(async ([operation, direct]) => {
    const outcome = await writeLate(mongo.uri, operation, direct);
    return `${operation} ${direct ? "direct" : "hooked"}: ${outcome}`;
  }));
  assertEquals(outcomes.filter((each) => !each.endsWith(": 503, stored: stored, sent: ")), []);
});
