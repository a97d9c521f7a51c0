/** The cost of live lists: events, processor time, the time from a write to its event, the load of the database. @module */
import type mongoose from "mongoose";
import { openDatabase } from "./database.ts";
import { quantile } from "./figures.ts";
import { cpuTime, openWorkspace, startServer } from "./programs.ts";
import { LARGE } from "./servers.ts";
import { Subscribers } from "./subscribers.ts";
import { table } from "./tables.ts";

/** The numbers of subscribers, and of their lists. The first row shows the cost of the same writes for the database. */
const CASES = [[0, 0], [1, 1], [100, 1], [1000, 1], [100, 100]] as const;

const ENTITIES = 500;

/** The seconds of each load: 50 changes a second, or as many as eight writers manage. */
const SECONDS = { steady: 10, full: 8 };

const HEAD = [
  ...["subscribers", "lists", "load", "changes/s", "events/s", "CPU µs/event"],
  ...["CPU ms/change", "p50 ms", "p99 ms", "reads/change", "mongod CPU ms/change"],
];

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Changes entities, each to the time of its change. Returns the number of changes. */
async function change(tickets: mongoose.Collection, isSteady: boolean, seconds: number) {
  const begun = performance.now();
  const isOver = () => performance.now() - begun >= seconds * 1000;
  let count = 0;
  const changeNext = async () => {
    const level = count++ % ENTITIES;
    await tickets.updateOne({ level }, { $set: { state: String(Date.now()) } });
  };
  const changeOn = async () => {
    while (!isOver()) await changeNext();
  };
  const all: Promise<void>[] = isSteady ? [] : Array.from({ length: 8 }, changeOn);
  while (isSteady && !isOver()) {
    all.push(changeNext());
    await pause(Math.max(0, all.length * 20 - (performance.now() - begun)));
  }
  await Promise.all(all);
  return count;
}

export async function benchLive(isQuick: boolean): Promise<void> {
  const workspace = await openWorkspace([LARGE]);
  await using database = await openDatabase(true);
  await using app = await startServer(LARGE, { workspace, database });
  const tickets = database.connection.collection("tickets");
  const entities = Array.from({ length: ENTITIES }, (_, level) => ({ tenant: "t1", level }));
  await tickets.insertMany(entities);
  await tickets.createIndex({ level: 1 });
  // The processor time of the application and of the database, and the database's number of reads
  const readUsage = async () => {
    const status = await database.connection.db?.admin().serverStatus();
    return [cpuTime(app.pid), cpuTime(database.pid), Number(status?.opcounters.query)];
  };
  const rows: string[][] = [];
  for (const [count, lists] of CASES) {
    using subscribers = new Subscribers();
    subscribers.timed = 20;
    for (let index = 0; index < count; index++) {
      const q = encodeURIComponent(JSON.stringify({ level: { $gte: -1 - index % lists } }));
      await subscribers.open(app.port, `/tickets?q=${q}`);
    }
    await subscribers.areReady();
    for (const load of count === 0 ? ["steady"] as const : ["steady", "full"] as const) {
      const before = await readUsage();
      const begun = performance.now();
      subscribers.events = 0;
      subscribers.latencies = [];
      const changes = await change(tickets, load === "steady", isQuick ? 1 : SECONDS[load]);
      // The last events arrive after the last change
      for (let seen = -1; seen !== subscribers.events;) {
        seen = subscribers.events;
        await pause(300);
      }
      const seconds = (performance.now() - begun) / 1000 - 0.3;
      const after = await readUsage();
      const used = after.map((each, at) => each - (before[at] ?? 0));
      const [appMs = NaN, mongoMs = NaN, reads = NaN] = used;
      const { events, latencies } = subscribers;
      rows.push([
        ...[
          `${count}`,
          `${lists}`,
          load,
          (changes / seconds).toFixed(),
          (events / seconds).toFixed(),
        ],
        ...[(1000 * appMs / events).toFixed(), (appMs / changes).toFixed(2)],
        ...[0.5, 0.99].map((part) => quantile(latencies, part).toFixed()),
        ...[(reads / changes).toFixed(2), (mongoMs / changes).toFixed(2)],
      ]);
    }
  }
  console.log(table(HEAD, rows));
}
