import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { getModel } from "../../mod.ts";
import { follow } from "../../src/changes/mod.ts";
import { openTickets, start, Ticket } from "./followed.ts";
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
    const count = 40;
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
      attempts: 2,
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

/** Follows with a record of what each change has. */
function startSeeing(seen: unknown[], lost: string[] = []) {
  return start({
    name: "large",
    onLost: ({ reason }) => void lost.push(reason),
    async handle({ kind, _id, before, missing, paths, values }) {
      const { title = "" } = await values() ?? {};
      seen.push([kind, _id, before?.title?.length, paths.length, title.length, ...missing]);
    },
  });
}

test("an event of more than 16 MB comes without its images, and the events around it with theirs", async () => {
  await using database = await openTickets();
  const { collection } = database;
  await (await startSeeing([])).stop();
  await collection.insertMany([1, 2].map((_id) => ({ _id, title: "a" })) as object[]);
  const [x, y] = ["x", "y"].map((each) => each.repeat(9_000_000));
  for (const [_id, title] of [[1, x], [2, "bb"], [1, y], [2, "ccc"], [1, "d"]]) {
    await collection.updateOne({ _id } as object, { $set: { title } });
  }
  const seen: unknown[] = [];
  using warn = stub(console, "warn");
  await using _ = await startSeeing(seen);
  await until(() => seen.length === 7);
  const told = warn.calls.filter(({ args: [line] }) =>
    /^"tickets\/large" gets a change without images, because its event has/.test(line)
  );
  assertEquals(told.length, 1);
  // The changes of different entities are handled at the same time.
  const of = (id: number) => seen.filter((each) => (each as unknown[])[1] === id);
  assertEquals(of(1), [
    ["insert", 1, undefined, 0, 1],
    ["update", 1, 1, 1, 9_000_000],
    // Without images, the entity is read as it is now.
    ["update", 1, undefined, 1, 1, "images"],
    ["update", 1, 9_000_000, 1, 1],
  ]);
  const [, ...updates] = of(2);
  assertEquals(updates, [["update", 2, 1, 1, 2], ["update", 2, 2, 1, 3]]);
});

test("an update of paths with more than 16 MB comes without them", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: unknown[] = [];
  await using _ = await startSeeing(seen);
  const name = "n".repeat(1000);
  const counts = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 0]));
  // The log of MongoDB would have the whole object if it were not larger than the changes.
  const inner = { ...counts, rest: "x".repeat(2_000_000) };
  await collection.insertOne({ _id: 1, title: "a", [name]: inner } as object);
  const all = { $objectToArray: `$${name}` };
  const next = { $cond: [{ $isNumber: "$$this.v" }, { $add: ["$$this.v", 1] }, "$$this.v"] };
  const grown = { $map: { input: all, in: { k: "$$this.k", v: next } } };
  await collection.updateOne({ _id: 1 } as object, [{
    $set: { [name]: { $arrayToObject: grown } },
  }]);
  await collection.updateOne({ _id: 1 } as object, { $set: { title: "bb" } });
  await until(() => seen.length === 3);
  assertEquals(seen, [
    ["insert", 1, undefined, 0, 1],
    ["update", 1, undefined, 0, 2, "images", "paths"],
    ["update", 1, 1, 1, 2],
  ]);
});

test("a change whose event cannot be read at all is reported as lost, and later ones are delivered", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const [seen, lost]: [unknown[], string[]] = [[], []];
  await using _ = await startSeeing(seen, lost);
  await collection.insertOne({ _id: "x".repeat(8_000_000), title: "a" } as object);
  await until(() => lost.length === 1);
  await collection.insertOne({ _id: 1, title: "b" } as object);
  await until(() => seen.length === 1);
  assertEquals([lost, seen], [["size"], [["insert", 1, undefined, 0, 1]]]);
});

test("an update as large as MongoDB allows becomes a dead letter, and is handled again", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: unknown[] = [];
  let isBroken = true;
  await using follower = await start({
    attempts: 2,
    async handle({ kind, paths, values, attempt }) {
      if (kind === "update") seen.push([paths, (await values())?.title?.length, attempt]);
      if (kind === "update" && isBroken) throw new Error("Too large");
    },
    onError: () => {},
  });
  const { insertedId: _id } = await collection.insertOne({ title: "x" });
  const length = 16_777_216 - 100;
  await collection.updateOne({ _id }, { $set: { title: "y".repeat(length) } });
  await until(async () => (await follower.deadLetters()).length === 1);
  isBroken = false;
  await follower.replay();
  await until(async () => (await follower.deadLetters()).length === 0);
  // A follower that loses its lease for a moment begins the change again
  assertEquals(seen.slice(-3), [1, 2, 1].map((attempt) => [["title"], length, attempt]));
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
      ...{ name: `pool-${each}`, connection },
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
