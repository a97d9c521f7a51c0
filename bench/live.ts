/**
 * What live lists cost: events per second, processor time for each event, the time from a write to its event, and what the
 * database pays. Run by `deno task bench live`.
 *
 * @module
 */
import mongoose from "mongoose";
import { fileURLToPath } from "node:url";
import { withDatabase } from "../tests/harness/database_uri.ts";
import { startMongo } from "../tests/harness/mongo/start_mongo.ts";
import { startApp } from "../tests/reach/support/start_app.ts";
import { until } from "../tests/support/until.ts";
import { quantile } from "./figures/quantile.ts";

/** How many subscribers there are, and of how many lists. */
const CASES = [[1, 1], [100, 1], [1000, 1], [100, 100]] as const;

const ENTITIES = 500;

/** How long each load lasts. */
const SECONDS = { steady: 10, full: 8 };

/** The changes of a second under a steady load. */
const STEADY = 50;

/** How many subscribers tell when an event came. */
const TIMED = 20;

type App = Awaited<ReturnType<typeof startApp>>;

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const DATABASE = "bench_live";

/** What a load has cost. */
interface Cost {
  readonly seconds: number;
  readonly changes: number;
  readonly events: number;
  readonly latencies: readonly number[];
  readonly appMs: number;
  readonly mongoMs: number;
  readonly reads: number;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Subscribers that count what comes. */
class Subscribers {
  events = 0;
  latencies: number[] = [];
  readonly #sockets: Deno.TcpConn[] = [];
  #ready = 0;

  get isReady(): boolean {
    return this.#ready === this.#sockets.length;
  }

  async open(url: string, { isTimed }: { readonly isTimed: boolean }): Promise<void> {
    const { hostname, port, pathname, search } = new URL(url);
    const socket = await Deno.connect({ hostname, port: Number(port) });
    this.#sockets.push(socket);
    const lines = [`GET ${pathname}${search} HTTP/1.1`, "Host: a", "Accept: text/event-stream"];
    const text = [...lines, "X-Tenant: T1", "", ""].join("\r\n");
    await socket.write(new TextEncoder().encode(text));
    void this.#count(socket, isTimed);
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
      const last = parts.pop() ?? "";
      const isWhole = /\n\n(\r\n)?$/.test(last);
      rest = isWhole ? "" : last;
      if (isWhole) parts.push(last);
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

/** The processor time of a process, in milliseconds. */
async function processorTime(pid: number): Promise<number> {
  // Deno itself reads nothing below /proc without all rights
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`] }).output();
  const fields = new TextDecoder().decode(stdout).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Opens the subscribers of a case. */
async function subscribe(app: App, [count, lists]: readonly [number, number]) {
  const subscribers = new Subscribers();
  for (let index = 0; index < count; index++) {
    const q = encodeURIComponent(JSON.stringify({ level: { $gte: -1 - index % lists } }));
    await subscribers.open(`${app.url}/tickets?q=${q}`, { isTimed: index < TIMED });
  }
  await until(() => subscribers.isReady, { seconds: 120 });
  return subscribers;
}

/** What a load runs on. */
interface Bench {
  readonly app: App;
  readonly host: mongoose.Connection;
}

/** Changes one entity after the other; each tells when that was. */
function changer({ host }: Bench): () => Promise<void> {
  const tickets = host.collection("tickets");
  let next = 0;
  return async () => {
    const level = next++ % ENTITIES;
    await tickets.updateOne({ level }, { $set: { state: String(Date.now()) } });
  };
}

const LOADS: Readonly<Record<keyof typeof SECONDS, (bench: Bench) => Promise<number>>> = {
  async steady(bench) {
    const change = changer(bench);
    const all: Promise<void>[] = [];
    const begun = performance.now();
    while (performance.now() - begun < SECONDS.steady * 1000) {
      all.push(change());
      await pause(Math.max(0, all.length * 1000 / STEADY - (performance.now() - begun)));
    }
    await Promise.all(all);
    return all.length;
  },
  async full(bench) {
    const change = changer(bench);
    const end = performance.now() + SECONDS.full * 1000;
    let count = 0;
    const write = async () => {
      for (; performance.now() < end; count++) await change();
    };
    await Promise.all(Array.from({ length: 8 }, write));
    return count;
  },
};

/** Runs a load, and gives what it has cost. */
async function measure(
  bench: Bench,
  { subscribers, load }: { readonly subscribers: Subscribers; readonly load: keyof typeof LOADS },
): Promise<Cost> {
  const { app, host } = bench;
  const look = async () => {
    const { cpuMs } = await (await fetch(`${app.url}/state`)).json() as { cpuMs: number };
    const { opcounters, pid } = await host.getClient().db("admin").command({ serverStatus: 1 });
    return [cpuMs, await processorTime(Number(pid)), Number(opcounters.query)] as const;
  };
  const before = await look();
  const begun = performance.now();
  subscribers.events = 0;
  subscribers.latencies = [];
  const changes = await LOADS[load](bench);
  // What is under way is told
  let told = -1;
  while (told !== subscribers.events) {
    told = subscribers.events;
    await pause(300);
  }
  const seconds = (performance.now() - begun) / 1000 - 0.3;
  const after = await look();
  const [appMs, mongoMs, reads] = after.map((each, index) => each - Number(before[index])) as [
    number,
    number,
    number,
  ];
  const { events, latencies } = subscribers;
  return { seconds, changes, events, latencies, appMs, mongoMs, reads };
}

/** Writes a row of the table. */
function rowOf([count, lists]: readonly [number, number], load: string, cost: Cost): string {
  const { seconds, changes, events, latencies, appMs, mongoMs, reads } = cost;
  const ms = (part: number) => quantile(latencies, part).toFixed(0);
  const cells = [
    ...[count, lists, load, (changes / seconds).toFixed(0), (events / seconds).toFixed(0)],
    ...[(1000 * appMs / events).toFixed(0), (appMs / changes).toFixed(2), ms(0.5), ms(0.99)],
    ...[(reads / changes).toFixed(2), (mongoMs / changes).toFixed(2)],
  ];
  return `| ${cells.join(" | ")} |`;
}

const HEAD = [
  ...["subscribers", "lists", "load", "changes/s", "events/s", "CPU µs/event"],
  ...["CPU ms/change", "p50 ms", "p99 ms", "reads/change", "mongod CPU ms/change"],
];

/** Measures all cases, and prints them as a table. */
export async function benchLive(): Promise<void> {
  const mongo = await startMongo({ replicaSet: 1 });
  const file = "tests/faults/support/live_app.ts";
  const command = [Deno.execPath(), "run", "--quiet", "--no-check", "-A", file] as const;
  const env = { FAULTS_URI: withDatabase(mongo.uri, DATABASE) };
  await using app = await startApp(command, { cwd: ROOT, env });
  const host = await mongoose.createConnection(mongo.uri, { dbName: DATABASE }).asPromise();
  const rows = Array.from({ length: ENTITIES }, (_, level) => ({ tenant: "T1", level }));
  await host.collection("tickets").insertMany(rows);
  await host.collection("tickets").createIndex({ level: 1 });
  console.log(`| ${HEAD.join(" | ")} |\n|${HEAD.map(() => " ---: ").join("|")}|`);
  const bench = { app, host };
  // Without subscribers, the same writes cost the database this much
  const alone = new Subscribers();
  const base = await measure(bench, { subscribers: alone, load: "steady" });
  console.log(rowOf([0, 0], "steady", base));
  for (const each of CASES) {
    const subscribers = await subscribe(app, each);
    for (const load of ["steady", "full"] as const) {
      console.log(rowOf(each, load, await measure(bench, { subscribers, load })));
    }
    subscribers.close();
    await pause(1000);
  }
  await host.close();
  await mongo.stop();
}
