import { assertEquals } from "@std/assert";
import { createServer } from "node:http";
import { once } from "node:events";
import mongoose from "mongoose";
import { Framework, getModel } from "../../../mod.ts";
import { endAtClose } from "../../../src/http/close_server.ts";
import { Housekeeper } from "../../../src/host/housekeeper.ts";
import { routesOfOptions } from "../../../src/host/initialize.ts";
import { test } from "../../harness/testing.ts";
import { until, whenIndexed } from "../../support/until.ts";
import { Card, serveSheets, Sheet, storeRemoved } from "./sheets.ts";

const EVERY_MS = 40;

/** Opens a housekeeper with short intervals, which ends at the end of its block. */
function openHousekeeper({ isScheduled = true } = {}) {
  const housekeeper = new Housekeeper({ everyMS: EVERY_MS });
  housekeeper.add(routesOfOptions({ models: [Sheet, Card] }), { isScheduled });
  return { stop: () => housekeeper.stop(), [Symbol.asyncDispose]: () => housekeeper.stop() };
}

const count = () => getModel(Sheet).collection.countDocuments();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("what expires is removed at intervals, until the housekeeper stops", async () => {
  await using _app = await serveSheets();
  await using housekeeper = openHousekeeper();
  for (let round = 0; round < 2; round++) {
    await storeRemoved(2, 31);
    await until(async () => await count() === 0);
  }
  await housekeeper.stop();
  await storeRemoved(2, 31);
  await pause(EVERY_MS * 5);
  assertEquals(await count(), 2);
});

test("with tidy: false, nothing is removed at intervals", async () => {
  await using _app = await serveSheets({ tidy: false });
  await using _housekeeper = openHousekeeper({ isScheduled: false });
  await storeRemoved(2, 31);
  await pause(EVERY_MS * 5);
  assertEquals(await count(), 2);
  assertEquals(await Framework.tidy(), { removed: { Sheet: 2 } });
});

test("nothing runs before the connection is open", async () => {
  await using _housekeeper = openHousekeeper();
  await pause(EVERY_MS * 3);
  await using _app = await serveSheets();
  await storeRemoved(2, 31);
  await until(async () => await count() === 0);
});

test("two housekeepers at intervals remove each entity once", async () => {
  await using _app = await serveSheets();
  await using _first = openHousekeeper();
  await using _second = openHousekeeper();
  for (let round = 0; round < 5; round++) await storeRemoved(120, 31);
  await until(async () => await count() === 0);
  assertEquals(await mongoose.connection.collection("sheets_history").countDocuments(), 600);
});

test("a failure is logged once until a run succeeds, and is repeated", async () => {
  await using _app = await serveSheets();
  const logged: unknown[] = [];
  const { error } = console;
  console.error = (...values) => logged.push(values[0]);
  try {
    const history = mongoose.connection.collection("sheets_history");
    const validate = (validator: object) =>
      whenIndexed(() => mongoose.connection.db?.command({ collMod: history.name, validator }));
    await history.insertOne({ no: 1 });
    for (let failures = 1; failures < 3; failures++) {
      await validate({ no: 1 });
      await storeRemoved(1, 31);
      await using _housekeeper = openHousekeeper();
      await until(() => Promise.resolve(logged.length === failures));
      await pause(EVERY_MS * 5);
      assertEquals(logged.map(String), Array(failures).fill('Error: Cannot tidy "Sheet"'));
      await validate({});
      await until(async () => await count() === 0);
    }
  } finally {
    console.error = error;
  }
});

test("Framework.close() waits for the end of work at intervals", async () => {
  const told: string[] = [];
  const cancel = endAtClose(async () => {
    told.push("ends");
    await pause(100);
    told.push("ended");
  });
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  await Framework.close(server);
  cancel();
  assertEquals(told, ["ends", "ended"]);
});
