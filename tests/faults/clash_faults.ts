import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Client, EntityBody } from "../support/client.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { DATABASE, openApp } from "./support/open_app.ts";

/** Clients that create below the same parent, and how often each of them does so. */
const RIVALS = 50;
const TIMES = isLong ? 20 : 3;

/** The applications that the clients share: within one of them, transactions on a parent take turns. */
const PROCESSES = 3;

/** The most transactions for each that is committed. */
const MOST = 5;

interface Counted {
  readonly totalStarted: bigint;
  readonly totalCommitted: bigint;
}

/** Gives how many transactions have begun and been committed since the last call. */
async function openCounter(uri: string) {
  const host = await mongoose.createConnection(withDatabase(uri, DATABASE)).asPromise();
  let last = [0, 0];
  return {
    async count(): Promise<readonly [started: number, committed: number]> {
      const status = await host.db?.admin().command({ serverStatus: 1 });
      const { totalStarted, totalCommitted } = status?.transactions as Counted;
      const before = last;
      last = [Number(totalStarted), Number(totalCommitted)];
      return [Number(last[0]) - Number(before[0]), Number(last[1]) - Number(before[1])];
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** Creates one entity after the other; gives the statuses. */
async function createSome(app: Client, { path, rival }: { path: string; rival: number }) {
  const statuses: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    statuses.push((await app.post(path, { key: `${rival} ${time}`, text: "0" })).status);
  }
  return statuses;
}

test("clients of several processes that create below one parent clash, and back off", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using counter = await openCounter(mongo.uri);
  await using stack = new AsyncDisposableStack();
  const opened = await Promise.all(Array.from({ length: PROCESSES }, () => openApp(mongo.uri)));
  const apps = opened.map((app) => stack.use(app));
  const appOf = (rival: number) => apps[rival % PROCESSES] as Client;
  const board = await appOf(0).created("/boards", { key: "b", text: "0" });
  const path = `/boards/${board._id}/people`;
  await counter.count();
  const replies = await Promise.all(
    Array.from({ length: RIVALS }, (_, rival) => createSome(appOf(rival), { path, rival })),
  );
  const [started, committed] = await counter.count();
  const people = await appOf(1).read<EntityBody[]>(path);
  assertEquals([...new Set(replies.flat())], [201]);
  assertEquals([people.length, committed], [RIVALS * TIMES, RIVALS * TIMES]);
  assert(started <= MOST * committed, `${started} transactions for ${committed} commits`);
  const clients = `${RIVALS} clients of ${PROCESSES} processes`;
  const each = (started / committed).toFixed(2);
  await report(`${clients}, ${committed} references, one parent: ${each} transactions for each`);
});
