/**
 * The cost of live lists: events per second, processor time for each event, the time from a write to its event, and the load
 * of the database. Run by `deno task bench live`.
 * @module
 */
import mongoose from "mongoose";
import { fileURLToPath } from "node:url";
import { withDatabase } from "../tests/harness/database_uri.ts";
import { startMongo } from "../tests/harness/mongo/start_mongo.ts";
import { startApp } from "../tests/reach/support/start_app.ts";
import { until } from "../tests/support/until.ts";
import { quantile } from "./figures.ts";

/** The numbers of subscribers, and of their lists. */
const CASES = [[1, 1], [100, 1], [1000, 1], [100, 100]] as const;

const ENTITIES = 500;

/** The seconds of each load: 50 changes a second, or as many as eight writers manage. */
const SECONDS = { steady: 10, full: 8 };

type Load = keyof typeof SECONDS;

const DATABASE = "bench_live";

const HEAD = [
  ...["subscribers", "lists", "load", "changes/s", "events/s", "CPU µs/event"],
  ...["CPU ms/change", "p50 ms", "p99 ms", "reads/change", "mongod CPU ms/change"],
];

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface Place {
  readonly url: string;
  readonly host: mongoose.Connection;
}

/** Subscribers that count their events. */
class Subscribers {
  events = 0;
  latencies: number[] = [];
  readonly #sockets: Deno.TcpConn[] = [];
  #ready = 0;

  /** Opens subscribers, and waits until they have their lists. The first 20 measure the time of events. */
  async open(url: string, count: number, lists: number): Promise<void> {
    const { hostname, port } = new URL(url);
    for (let index = 0; index < count; index++) {
      const q = encodeURIComponent(JSON.stringify({ level: { $gte: -1 - index % lists } }));
      const socket = await Deno.connect({ hostname, port: Number(port) });
      this.#sockets.push(socket);
      const head = [`GET /tickets?q=${q} HTTP/1.1`, "Host: a", "Accept: text/event-stream"];
      const text = [...head, "X-Tenant: T1", "", ""].join("\r\n");
      await socket.write(new TextEncoder().encode(text));
      void this.#count(socket, index < 20);
    }
    await until(() => this.#ready === count, { seconds: 120 });
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }

  async #count(socket: Deno.TcpConn, isTimed: boolean): Promise<void> {
    const decoder = new TextDecoder("latin1");
    const bytes = new Uint8Array(1 << 18);
    let isReady = false;
    let rest = "";
    for (;;) {
      const size = await socket.read(bytes).catch(() => null);
      if (size === null) return;
      const parts = (rest + decoder.decode(bytes.subarray(0, size))).split("event: ");
      const last = parts.at(-1) ?? "";
      rest = /\n\n(\r\n)?$/.test(last) ? "" : parts.pop() ?? "";
      for (const part of parts) {
        if (!isReady && part.startsWith("ready")) {
          isReady = true;
          this.#ready++;
        } else if (isReady && part.startsWith("put")) {
          this.events++;
          const [, at] = isTimed ? /"state":"(\d+)"/.exec(part) ?? [] : [];
          if (at !== undefined) this.latencies.push(Date.now() - Number(at));
        }
      }
    }
  }
}

/** Changes entities one after the other, each to the time of its change. Returns the number of changes. */
async function change(host: mongoose.Connection, load: Load): Promise<number> {
  const tickets = host.collection("tickets");
  const begun = performance.now();
  const isOver = () => performance.now() - begun >= SECONDS[load] * 1000;
  let count = 0;
  const changeNext = async () => {
    const level = count++ % ENTITIES;
    await tickets.updateOne({ level }, { $set: { state: String(Date.now()) } });
  };
  const changeOn = async () => {
    while (!isOver()) await changeNext();
  };
  const all: Promise<void>[] = load === "full" ? Array.from({ length: 8 }, changeOn) : [];
  while (load === "steady" && !isOver()) {
    all.push(changeNext());
    await pause(Math.max(0, all.length * 20 - (performance.now() - begun)));
  }
  await Promise.all(all);
  return count;
}

/** Reads the processor time of the application and of the database, and the database's number of reads. */
async function readUsage({ url, host }: Place): Promise<number[]> {
  const { cpuMs } = await (await fetch(`${url}/state`)).json() as { cpuMs: number };
  const { opcounters, pid } = await host.getClient().db("admin").command({ serverStatus: 1 });
  // Deno reads files below /proc only with all permissions
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`] }).output();
  const fields = new TextDecoder().decode(stdout).split(") ")[1]?.split(" ") ?? [];
  return [cpuMs, (Number(fields[11]) + Number(fields[12])) * 10, Number(opcounters.query)];
}

/** Runs a load, and prints its row. */
async function measure(
  { url, host }: Place,
  [count, lists, load]: readonly [number, number, Load],
  subscribers: Subscribers,
): Promise<void> {
  const before = await readUsage({ url, host });
  const begun = performance.now();
  subscribers.events = 0;
  subscribers.latencies = [];
  const changes = await change(host, load);
  // The last events arrive after the last change
  for (let seen = -1; seen !== subscribers.events;) {
    seen = subscribers.events;
    await pause(300);
  }
  const seconds = (performance.now() - begun) / 1000 - 0.3;
  const after = await readUsage({ url, host });
  const used = after.map((each, at) => each - (before[at] ?? 0));
  const [appMs = NaN, mongoMs = NaN, reads = NaN] = used;
  const { events, latencies } = subscribers;
  print([
    ...[count, lists, load, (changes / seconds).toFixed(0), (events / seconds).toFixed(0)],
    ...[(1000 * appMs / events).toFixed(0), (appMs / changes).toFixed(2)],
    ...[0.5, 0.99].map((part) => quantile(latencies, part).toFixed(0)),
    ...[(reads / changes).toFixed(2), (mongoMs / changes).toFixed(2)],
  ]);
}

function print(cells: readonly unknown[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

/** Measures all cases, and prints them as a table. */
export async function benchLive(): Promise<void> {
  await using mongo = await startMongo({ replicaSet: 1 });
  const file = "tests/faults/support/live_app.ts";
  const command = [Deno.execPath(), "run", "--quiet", "--no-check", "-A", file] as const;
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const env = { FAULTS_URI: withDatabase(mongo.uri, DATABASE) };
  await using app = await startApp(command, { cwd, env });
  const host = await mongoose.createConnection(mongo.uri, { dbName: DATABASE }).asPromise();
  const rows = Array.from({ length: ENTITIES }, (_, level) => ({ tenant: "T1", level }));
  await host.collection("tickets").insertMany(rows);
  await host.collection("tickets").createIndex({ level: 1 });
  const place = { url: app.url, host };
  print(HEAD);
  print(HEAD.map(() => "---:"));
  // The first row shows the cost of the same writes for the database
  await measure(place, [0, 0, "steady"], new Subscribers());
  for (const [count, lists] of CASES) {
    const subscribers = new Subscribers();
    await subscribers.open(app.url, count, lists);
    await measure(place, [count, lists, "steady"], subscribers);
    await measure(place, [count, lists, "full"], subscribers);
    subscribers.close();
    await pause(1000);
  }
  await host.close();
}
