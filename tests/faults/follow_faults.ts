import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { getModel } from "../../mod.ts";
import { startFollow } from "../../src/changes/follow.ts";
import { QUICK } from "../changes/followed.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { Counter } from "./support/counter.ts";
import type { Told } from "./support/follow_main.ts";
import { DATABASE } from "./support/open_app.ts";
import { openReplicaSet, type ReplicaSet, restart, signal } from "./support/replica_set.ts";

const COUNTERS = 40;

/** How often each fault happens. */
const ROUNDS = isLong ? 5 : 1;

/** How long nobody follows. */
const STOP_MS = isLong ? 60_000 : 5_000;

/** The collection with the place of the follower. */
const RECORDS = "mongrove_follows";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the handlers of all processes have done. */
class Handled {
  readonly fates = new Map<string, Map<number, Told["fate"]>>();
  readonly wrong: string[] = [];
  readonly lost: string[] = [];
  readonly errors: string[] = [];
  count = 0;
  repeated = 0;
  /** The process that has told last. */
  last = 0;

  enter(pid: number, told: Told & { readonly lost?: string; readonly error?: string }): void {
    this.last = pid;
    if (told.lost !== undefined) return void this.lost.push(told.lost);
    if (told.error !== undefined) return void this.errors.push(told.error);
    const { key, n, fate } = told;
    const fates = this.fates.get(key) ?? new Map();
    this.fates.set(key, fates);
    this.count++;
    if (fates.has(n)) this.repeated++;
    // In order: what is handled is no further than the next one
    if (n > 1 && !fates.has(n - 1)) this.wrong.push(`${key}: ${n} came before ${n - 1}`);
    fates.set(n, fates.get(n) ?? fate);
  }

  /** The changes that no handler got. */
  async missing(counters: Connection): Promise<string[]> {
    const missing: string[] = [];
    for await (const { _id, n } of counters.collection("counters").find()) {
      for (let each = 1; each <= n; each++) {
        if (!this.fates.get(String(_id))?.has(each)) missing.push(`${_id}: ${each}`);
      }
    }
    return missing;
  }
}

/** Makes the collection of counters. */
async function openCounters(connection: Connection) {
  const counters = getModel(Counter, connection);
  await counters.init();
  return counters;
}

/** Starts a process that follows; disposing stops it. */
function startFollower(uri: string, handled: Handled) {
  const main = new URL("./support/follow_main.ts", import.meta.url).pathname;
  const args = ["run", "--quiet", "--no-check", "-A", main, uri, "faulty"];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) handled.enter(child.pid, JSON.parse(line));
    }
  })();
  const end = async (name: Deno.Signal) => {
    try {
      child.kill(name);
    } catch {
      // It has ended
    }
    await child.status;
    await reading;
  };
  return { pid: child.pid, child, end, [Symbol.asyncDispose]: () => end("SIGTERM") };
}

type Process = ReturnType<typeof startFollower>;

/** Changes counters, one change of each after the other, until it is told to end. */
function startWriting(connection: Connection, ids: readonly mongoose.Types.ObjectId[]) {
  let isOver = false;
  const counters = connection.collection("counters");
  const write = async (_id: mongoose.Types.ObjectId) => {
    while (!isOver) {
      const options = { writeConcern: { w: "majority" } } as const;
      await counters.updateOne({ _id }, { $inc: { n: 1 } }, options).catch(() => pause(100));
      await pause(Math.random() * 20);
    }
  };
  const writing = Promise.all(ids.map(write));
  return async () => {
    isOver = true;
    await writing;
  };
}

/** A replica set with counters, and processes that follow them while they are changed. */
class World {
  readonly handled = new Handled();
  readonly #uri: string;
  #followers: Process[] = [];
  #stopWriting: () => Promise<unknown> = () => Promise.resolve();

  private constructor(readonly set: ReplicaSet) {
    this.#uri = withDatabase(set.uri, DATABASE);
  }

  static async open(): Promise<World> {
    const world = new World(await openReplicaSet());
    const { connection } = world.set;
    const { collection } = await openCounters(connection);
    world.startAll();
    await until(async () => await connection.collection(RECORDS).findOne() !== null);
    const ids = Array.from({ length: COUNTERS }, () => new mongoose.Types.ObjectId());
    await collection.insertMany(ids.map((_id) => ({ _id, n: 1 })));
    world.#stopWriting = startWriting(connection, ids);
    return world;
  }

  startAll(): void {
    this.#followers = Array.from({ length: 3 }, () => startFollower(this.#uri, this.handled));
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#followers.map((each) => each.end("SIGKILL")));
  }

  /** The age of the oldest change that is not handled. */
  async lag(): Promise<number> {
    const projection = { lag: { $subtract: ["$$NOW", "$at"] }, isIdle: 1 };
    const found = await this.set.connection.collection(RECORDS).findOne({}, { projection });
    return found?.isIdle ? 0 : Number(found?.lag);
  }

  /** The process that handles changes. */
  holder(): Process {
    const holder = this.#followers.find(({ pid }) => pid === this.handled.last);
    assert(holder, "No process handles changes");
    return holder;
  }

  /** Ends the process that handles changes, and starts another one; gives the time until handlers go on. */
  async endHolder(name: Deno.Signal): Promise<number> {
    const holder = this.holder();
    await holder.end(name);
    const [since, count] = [performance.now(), this.handled.count];
    await until(() => this.handled.count > count);
    const others = this.#followers.filter((each) => each !== holder);
    this.#followers = [...others, startFollower(this.#uri, this.handled)];
    return Math.round(performance.now() - since);
  }

  /** Stops the process that handles changes for longer than its lease; it goes on beside another one. */
  async delayHolder(): Promise<void> {
    const { pid } = this.holder();
    Deno.kill(pid, "SIGSTOP");
    await until(() => this.handled.last !== pid);
    await this.goesOn();
    Deno.kill(pid, "SIGCONT");
  }

  /** Waits until handlers go on. */
  async goesOn(): Promise<void> {
    const before = this.handled.count;
    await until(() => this.handled.count > before + 200, { seconds: 90 });
  }

  /** Ends the writes, and waits until all changes are handled. */
  async settle(): Promise<void> {
    await this.#stopWriting();
    const missing = () => this.handled.missing(this.set.connection);
    const isWhole = async () => (await missing()).length === 0;
    await until(isWhole, { seconds: 120, everyMs: 500 }).catch(() => {});
    assertEquals((await missing()).slice(0, 20), []);
    assertEquals(this.handled.wrong.slice(0, 20), []);
    assertEquals(this.handled.lost, []);
    await until(async () => await this.lag() === 0, { seconds: 30, everyMs: 250 });
  }

  async [Symbol.asyncDispose]() {
    await this.#stopWriting();
    await Promise.all(this.#followers.map((each) => each.end("SIGTERM")));
    await this.set[Symbol.asyncDispose]();
  }
}

/** What the handlers got, for the report. */
function summary({ fates, count, repeated, errors }: Handled): string {
  const all = [...fates.values()].flatMap((each) => [...each.values()]);
  const buried = all.filter((fate) => fate === "buried").length;
  return `${all.length} changes, ${buried} of them dead letters; ${count} deliveries, ${repeated} of them again; ` +
    `${errors.length} errors of the database`;
}

test("three processes follow under load: killed, stopped and late ones miss no change", async () => {
  await using world = await World.open();
  const times: number[] = [];
  await world.goesOn();
  await pause(5000);
  const loaded = await world.lag();
  for (let round = 0; round < ROUNDS; round++) {
    await world.goesOn();
    times.push(await world.endHolder("SIGKILL"));
    await world.goesOn();
    await world.delayHolder();
    await world.goesOn();
    await world.endHolder("SIGTERM");
  }
  await world.goesOn();
  await world.killAll();
  await pause(STOP_MS);
  const lag = await world.lag();
  assert(lag >= STOP_MS, `${lag} ms`);
  world.startAll();
  await world.goesOn();
  await world.settle();
  await report(
    `Follow, processes die, ${ROUNDS} rounds: ${
      summary(world.handled)
    }; another one went on after ${times} ms; ` +
      `lag under load: ${loaded} ms, after a stop of ${STOP_MS} ms: ${lag} ms`,
  );
});

test("three processes follow while the primary steps down and is killed", async () => {
  await using world = await World.open();
  const { set } = world;
  for (let round = 0; round < ROUNDS; round++) {
    await world.goesOn();
    await set.stepDown();
    await world.goesOn();
    await set.whole();
    const primary = await set.primary();
    signal(primary, "SIGKILL");
    await world.goesOn();
    await restart(primary);
    await set.whole();
  }
  await world.settle();
  await report(`Follow, the primary is unseated, ${ROUNDS} rounds: ${summary(world.handled)}`);
});

/** Writes until the oplog has nothing of counters. */
async function rollOver(connection: Connection): Promise<void> {
  const oplog = connection.getClient().db("local").collection("oplog.rs");
  const text = "x".repeat(200_000);
  await until(async () => {
    await connection.collection("fill").insertMany(Array.from({ length: 20 }, () => ({ text })));
    return await oplog.findOne({ op: "i", ns: `${DATABASE}.counters` }) === null;
  }, { seconds: 120 });
}

test("an oplog that has rolled over is told once, and later changes are delivered", async () => {
  const args = ["--oplogSize", "8", "--syncdelay", "1"];
  await using mongo = await startMongo({ replicaSet: 1, args });
  const connection = await mongoose.createConnection(withDatabase(mongo.uri, DATABASE)).asPromise();
  const { collection } = await openCounters(connection);
  const seen: string[] = [];
  const open = () =>
    startFollow(Counter, {
      options: {
        ...{ name: "rolled", connection },
        handle: async ({ values }) => void seen.push(`${(await values())?.n}`),
        onLost: ({ reason }) => void seen.push(`lost: ${reason}`),
      },
      times: QUICK,
    });
  const first = open();
  await until(async () => await first.lag() !== undefined);
  await collection.insertOne({ n: 1 });
  await until(() => seen.length === 1);
  await first.stop();
  await collection.insertOne({ n: 2 });
  await rollOver(connection);
  const second = open();
  await until(() => seen.length === 2);
  await collection.insertOne({ n: 3 });
  await until(() => seen.length === 3);
  await second.stop();
  await connection.close();
  assertEquals(seen, ["1", "lost: history", "3"]);
});
