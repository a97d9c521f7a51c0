import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../mod.ts";
import { follow } from "../../src/changes/mod.ts";
import { openTickets, QUICK, start, Ticket } from "./followed.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { longTest, test } from "../harness/testing.ts";
import { until } from "../support/until.ts";

const LARGE = 2_000_000;

/** Follows large tickets in a process with a small heap; gives the lines that it prints. */
function startSmall(args: readonly string[]) {
  const main = new URL("../fixtures/follow_large.ts", import.meta.url).pathname;
  const flags = ["--no-check", "--quiet", "-A", "--v8-flags=--max-old-space-size=100"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, main, ...args],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines: string[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = `${rest}${text}`.split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    }
  })();
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  return {
    lines,
    hasEnded: () => hasEnded,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

longTest(
  "large entities that wait while a receiver is down do not fill the memory, and are told as they were",
  async () => {
    await using database = await openTickets();
    const { collection, connection } = database;
    const first = await start({ name: "large" });
    await first.stop();
    const count = 60;
    for (let each = 0; each < count; each++) {
      await collection.insertOne({ title: "x".repeat(LARGE), count: 1 });
    }
    await collection.updateMany({}, { $set: { count: 2 } });
    await using small = startSmall([database.uri, connection.name, `${count}`]);
    await until(() => small.hasEnded() || small.lines.length === 2 * count, { seconds: 120 });
    assert(!small.hasEnded(), "The process has ended");
    const told = new Set(small.lines);
    assertEquals([...told].sort(), [
      JSON.stringify(["insert", LARGE, 1, null]),
      JSON.stringify(["update", LARGE, 2, 1]),
    ]);
  },
);

/** Values that cannot be turned into text, or not into one that a document can hold. */
const ODD = {
  symbol: () => Symbol("odd"),
  bare: () => Object.create(null),
  proxy: () =>
    new Proxy({}, {
      get() {
        throw new Error("No");
      },
      getPrototypeOf() {
        throw new Error("No");
      },
    }),
  text: () => ({
    toString() {
      throw new Error("No");
    },
  }),
  long: () => new Error("x".repeat(17_000_000)),
  nothing: () => undefined,
};

const REPORTS = {
  "the log": undefined,
  "a function": () => {},
  "a function that throws it again": (error: unknown) => Promise.reject(error),
};

for (const [name, onError] of Object.entries(REPORTS)) {
  test(`whatever a handler throws, its change becomes a dead letter, and ${name} gets it`, async () => {
    await using database = await openTickets();
    const seen: string[] = [];
    await using follower = await start({
      retry: { attempts: 2, pauseMS: 10 },
      onError,
      async handle({ kind, values }) {
        const { title = "" } = await values() ?? {};
        seen.push(`${kind} ${title}`);
        if (kind === "insert") throw ODD[title as keyof typeof ODD]();
      },
    });
    const titles = Object.keys(ODD);
    for (const title of titles) await database.collection.insertOne({ title });
    await database.collection.updateMany({}, { $set: { count: 1 } });
    const isSeen = (title: string) => seen.includes(`update ${title}`);
    await until(() => titles.every(isSeen));
    const letters = await follower.deadLetters();
    assertEquals(letters.map(({ attempts }) => attempts), titles.map(() => 2));
    assert(letters.every(({ error }) => error.length > 0 && error.length <= 10_000));
    // A busy machine may lose the lease, after which a change is handled once more.
    assert(seen.length >= 3 * titles.length);
  });
}

test("an update as large as MongoDB allows becomes a dead letter, and is handled again", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: unknown[] = [];
  let isBroken = true;
  await using follower = await start({
    retry: { attempts: 2, pauseMS: 10 },
    async handle({ kind, paths, values, attempt }) {
      if (kind === "update") seen.push([paths, (await values())?.title?.length, attempt]);
      if (kind === "update" && isBroken) throw new Error("Too large");
    },
    onError: () => {},
  });
  const { insertedId: _id } = await collection.insertOne({ title: "x" });
  const length = 16_777_216 - 100;
  await collection.updateOne({ _id }, { $set: { title: "y".repeat(length) } });
  await until(async () => (await follower.deadLetters()).length === 1, { seconds: 20 });
  isBroken = false;
  await follower.replay();
  await until(async () => (await follower.deadLetters()).length === 0, { seconds: 20 });
  assertEquals(seen, [1, 2, 1].map((attempt) => [["title"], length, attempt]));
});

test("followers leave half of a pool to requests, and all are told of changes", async () => {
  await using database = await openTickets();
  const uri = withDatabase(database.uri, database.name);
  const connection = await mongoose.createConnection(uri, { maxPoolSize: 8 }).asPromise();
  const tickets = getModel(Ticket, connection);
  await tickets.init();
  const busy = new Set<number>();
  const client = connection.getClient();
  client.on("connectionCheckedOut", ({ connectionId }) => busy.add(Number(connectionId)));
  client.on("connectionCheckedIn", ({ connectionId }) => busy.delete(Number(connectionId)));
  const seen = new Set<string>();
  const followers = Array.from({ length: 16 }, (_, each) =>
    follow(Ticket, {
      ...{ ...QUICK, name: `pool-${each}`, connection, leaseMS: 15_000 },
      handle: () => void seen.add(`pool-${each}`),
    }));
  for (const each of followers) await until(async () => await each.lag() !== undefined);
  const samples: number[] = [];
  for (let each = 0; each < 100; each++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    samples.push(busy.size);
  }
  const median = samples.sort((a, b) => a - b)[50] ?? 0;
  assert(median <= 5, `${median} of 8 connections are busy`);
  await tickets.create({ title: "a" });
  await until(() => seen.size === followers.length);
  await Promise.all(followers.map((each) => each.stop()));
  await connection.close();
});

test("stop() leaves no listener on the connection", async () => {
  await using database = await openTickets();
  const { connection } = database;
  const before = connection.listenerCount("close");
  for (let each = 0; each < 3; each++) await (await start()).stop();
  assertEquals(connection.listenerCount("close"), before);
});
