import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import type { Express, Response } from "express-types";
import mongoose from "mongoose";
import type { ConnectOptions } from "mongoose";
import { all, FrameworkModel, one, prop, rest } from "../../mod.ts";
import type { FrameworkRequest, ModelClass } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { openGet } from "../support/sockets.ts";
import { mount, type Mounted, NOBODY } from "../support/support.ts";
import { until } from "../support/until.ts";

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

/** How many rows there are, of 1 kB. */
const ROWS = 6000;

const batchesOf = (batchSize: number) => (req: FrameworkRequest) => {
  req.framework.options = { batchSize };
  return true;
};

/** Makes a model: `/rows` is a list in many batches, the others come in one. */
function buildRows(): ModelClass {
  const schemaOptions = { collection: "rows" };
  const preFetch = batchesOf(ROWS + 1);
  @rest({ route: "/rows", methods: [all<Row>({ preFetch: batchesOf(100) }), one()], schemaOptions })
  @rest({ route: "/direct", methods: [all<Row>({ preFetch })] })
  @rest({ route: "/hooks", methods: [all<Row>({ preFetch, preSend: pass })] })
  @rest({ route: "/lean", methods: [all<Row>({ preFetch, preSend: pass, lean: true })] })
  class Rows extends Row {}
  return Rows;
}

/** What the driver has sent, and what has been answered, in order; notes of tests among it. */
type Told = string[];

/** Serves the rows, with a pool of connections of its own. */
async function openRows(
  options: ConnectOptions = {},
  prepare: (app: Express) => void = () => {},
): Promise<Mounted & { readonly told: Told }> {
  const app = await mount([buildRows()], { prepare, onError: () => {} });
  const { connection, uri } = app.database;
  const text = "x".repeat(1000);
  await connection.collection("rows").insertMany(Array.from({ length: ROWS }, () => ({ text })));
  await mongoose.disconnect();
  await mongoose.connect(uri, { monitorCommands: true, ...options });
  const told: Told = [];
  mongoose.connection.getClient()
    .on("commandStarted", ({ commandName }) => told.push(commandName))
    .on("commandSucceeded", ({ commandName }) => told.push(`${commandName} ended`));
  return Object.assign(app, { told });
}

function countOf(told: Told, name: string): number {
  return told.filter((each) => each === name).length;
}

/** The most reads of lists that were under way at a time. */
function mostAtOnce(told: Told): number {
  let now = 0;
  const counts = told.map((each) =>
    now += each === "getMore" ? 1 : each === "getMore ended" ? -1 : 0
  );
  return Math.max(...counts);
}

const LISTS = 40;

test("a short request waits for a few of the batches that many lists read", async () => {
  await using app = await openRows({ maxPoolSize: 4 }, (host) =>
    host.use((req, _res, next) => {
      if (req.path !== "/rows") app.told.push("request");
      next();
    }));
  const sockets = await Promise.all(
    Array.from({ length: LISTS }, () => openGet(`${app.url}/rows`)),
  );
  await until(() => countOf(app.told, "getMore ended") > LISTS);
  await app.get(`/rows/${NOBODY}`);
  const asked = app.told.lastIndexOf("request");
  const between = app.told.slice(asked, app.told.indexOf("find", asked));
  assert(countOf(between, "getMore") < LISTS / 2, `${between}`);
  assert(mostAtOnce(app.told) <= 2, "half of the connections are for other requests");
  for (const socket of sockets) socket.close();
});

/** Calls back before bytes of an answer are written. */
function beforeWritten(res: Response, written: () => void): void {
  const { write, end } = res;
  res.write = ((bytes: Uint8Array) => {
    written();
    return write.call(res, bytes, "utf8");
  }) as never;
  res.end = ((bytes: Uint8Array) => {
    written();
    return end.call(res, bytes, "utf8");
  }) as never;
}

/** Counts the turns of the event loop from the answer of the database to the first byte of an answer. */
async function countTurns(app: Mounted & { readonly told: Told }, path: string): Promise<number> {
  let turns = 0;
  const count = () => {
    turns++;
    if (!app.told.includes("written")) setImmediate(count);
  };
  mongoose.connection.getClient().once("commandSucceeded", count);
  assertEquals((await app.get<unknown[]>(path)).body.length, ROWS);
  return turns;
}

for (const path of ["/direct", "/hooks", "/lean"]) {
  test(`GET ${path} leaves turns of the event loop to others while it is written`, async () => {
    await using app = await openRows({}, (host) =>
      host.use((_req, res, next) => {
        beforeWritten(res, () => app.told.push("written"));
        next();
      }));
    const turns = await countTurns(app, path);
    assert(turns > 15, `${turns} turns`);
  });
}

test("a list reads no further for a client that has not taken what was written", async () => {
  await using app = await openRows({}, (host) =>
    host.use((_req, res, next) => {
      let taken = 0;
      const write = res.write;
      // The client takes the first batch, and no more
      res.write = ((bytes: Uint8Array) => {
        taken += bytes.length;
        if (taken < 150_000) return write.call(res, bytes, "utf8");
        app.told.push("stalled");
        return false;
      }) as never;
      next();
    }));
  using _socket = await openGet(`${app.url}/rows`);
  await until(() => app.told.includes("stalled"));
  const reads = app.told.filter((each) => ["find", "getMore", "stalled"].includes(each));
  assertEquals(reads, ["find", "getMore", "stalled"]);
});
