import { assert, assertEquals, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { createServer } from "node:http";
import { Framework } from "../../mod.ts";
import { every, type RunContext } from "../../src/work/mod.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { endLease, gate, openParcels } from "./worked.ts";

const RUNS = "mongrove_runs";

interface StoredRun {
  readonly _id: string;
  readonly number: number;
  readonly outcome: string;
  readonly missed: number;
  readonly error?: string;
  readonly dueAt: Date;
}

async function openRuns() {
  const database = await openParcels(0);
  const { connection } = mongoose;
  const runs = connection.collection<StoredRun>(RUNS);
  const read = async (name: string) => await runs.findOne({ _id: name });
  const hasEnded = (name: string, outcome: string) =>
    until(async () => (await read(name))?.outcome === outcome);
  return { ...database, connection, runs, read, hasEnded };
}

/** Moves the last run of a record back in time. */
async function age(ms: number) {
  const dueAt = { $subtract: ["$dueAt", ms] };
  await mongoose.connection.collection(RUNS).updateMany({}, [{ $set: { dueAt } }] as never);
}

test("every() runs at once, and then at each interval, in one process at a time", async () => {
  await using database = await openRuns();
  const other = await mongoose.createConnection(database.uri).asPromise();
  let [running, most, runs] = [0, 0, 0];
  const run = async () => {
    most = Math.max(most, ++running);
    await until(() => true);
    [running, runs] = [running - 1, runs + 1];
  };
  await using _one = every("1s", "sweep", run);
  await using _two = every("1s", "sweep", run, { connection: other });
  await until(() => runs === 4);
  assertEquals(most, 1);
  await database.hasEnded("sweep", "done");
  const { number, missed } = await database.read("sweep") ?? {};
  assertEquals([Number(number) >= 4, missed], [true, 0]);
  await other.close();
});

test("every() makes up for missed runs by one run, and tells their number", async () => {
  await using database = await openRuns();
  const missed: number[] = [];
  const run = (context: RunContext) => void missed.push(context.missed);
  await using first = every("1h", "late", run);
  await database.hasEnded("late", "done");
  await first.stop();
  await age(5.5 * 3_600_000);
  const before = (await database.read("late"))?.dueAt.getTime() ?? 0;
  using warn = stub(console, "warn");
  await using second = every("1h", "late", run);
  await until(() => missed.length === 2);
  await second.stop();
  assertEquals(missed, [0, 4]);
  assertEquals((await database.read("late"))?.dueAt.getTime(), before + 5 * 3_600_000);
  assertEquals(warn.calls.map(({ args }) => args), [[
    '"late" has missed 4 runs, for which one run follows',
  ]]);
  await using _third = every("1m", "late", run);
  await until(() => missed.length === 3);
});

test("every() runs although the clock of the database was set back by hours", async () => {
  await using database = await openRuns();
  let runs = 0;
  await using first = every("1h", "early", () => runs++);
  await database.hasEnded("early", "done");
  await first.stop();
  const hours = 5 * 3_600_000;
  const later = { $add: ["$until", hours] };
  await database.runs.updateOne({}, [{ $set: { until: later } }] as never);
  await age(-hours);
  const before = (await database.read("early"))?.dueAt;
  await using second = every("1h", "early", () => runs++);
  await until(async () => (await database.read("early"))?.dueAt.getTime() !== before?.getTime());
  await second.stop();
  await using third = every("1h", "early", () => runs++);
  await using _later = every("1h", "later", () => {});
  await database.hasEnded("later", "done");
  await third.stop();
  assertEquals([runs, (await database.read("early"))?.missed], [2, 0]);
});

test("a failed run reaches onError, and waits for the next interval", async () => {
  await using database = await openRuns();
  const errors: unknown[] = [];
  let runs = 0;
  const run = () => {
    runs++;
    throw new Error("no mail today");
  };
  await using work = every("1h", "mail", run, { onError: (error) => errors.push(error) });
  await database.hasEnded("mail", "failed");
  await work.stop();
  assertEquals(errors.map(String), ["Error: no mail today"]);
  assertEquals((await database.read("mail"))?.error, "Error: no mail today");
  using log = stub(console, "error");
  await using again = every("1h", "mail", run);
  await using _later = every("1h", "later", () => {});
  await database.hasEnded("later", "done");
  await again.stop();
  assertEquals(runs, 1);
  await age(3_600_000);
  await using _ = every("1h", "mail", run);
  await until(() => log.calls.length === 1);
  assertEquals([runs, log.calls[0]?.args[1]], [2, { every: "mail" }]);
});

test("Framework.close() waits for a run, and no other one begins", async () => {
  await using database = await openRuns();
  const [begun, going] = [gate(), gate()];
  let [isAborted, runs] = [false, 0];
  every("1s", "slow", async ({ signal }) => {
    runs++;
    begun.open();
    await going.opened;
    isAborted = signal.aborted;
  });
  await begun.opened;
  let isClosed = false;
  const closing = Framework.close(createServer().listen(0, "127.0.0.1"))
    .then(() => isClosed = true);
  await age(60_000);
  await Framework.health();
  assert(!isClosed);
  going.open();
  await closing;
  assertEquals([isAborted, runs, (await database.read("slow"))?.outcome], [true, 1, "done"]);
});

test("a run that a stop or a crash has cut is repeated", async () => {
  await using database = await openRuns();
  let runs = 0;
  const begun = gate();
  const run = async ({ signal }: RunContext) => {
    if (++runs > 1) return;
    begun.open();
    await until(() => signal.aborted);
    signal.throwIfAborted();
  };
  const work = every("1h", "cut", run);
  await begun.opened;
  await work.stop();
  assertEquals((await database.read("cut"))?.outcome, "interrupted");
  await using second = every("1h", "cut", run);
  await database.hasEnded("cut", "done");
  await second.stop();
  await age(3_600_000);
  await database.runs.updateOne({ _id: "cut" }, { $set: { outcome: "running" } });
  using warn = stub(console, "warn");
  await using _third = every("1h", "cut", run);
  await until(() => runs === 3);
  assertEquals(warn.calls[0]?.args, ['"cut": the last run was cut, and is repeated']);
});

test("a run whose lease is lost is told, and records nothing", async () => {
  await using database = await openRuns();
  const [begun, going] = [gate(), gate()];
  const errors: string[] = [];
  const onError = (error: unknown) => errors.push(String(error));
  await using _ = every("1h", "lost", async () => {
    begun.open();
    await going.opened;
  }, { onError });
  await begun.opened;
  await endLease(database.connection, RUNS, "lost");
  const other = await mongoose.createConnection(database.uri).asPromise();
  await using taker = every("1h", "lost", () => {}, { connection: other });
  await until(async () => (await database.read("lost"))?.number === 2);
  await database.hasEnded("lost", "done");
  await taker.stop();
  const before = await database.read("lost");
  going.open();
  await until(() => errors.length === 1);
  assertEquals(errors, [
    'Error: "lost": the lease is lost, so another process may repeat the run',
  ]);
  assertEquals((await database.read("lost"))?.dueAt, before?.dueAt);
  await other.close();
});

test("every() waits for the connection, and refuses wrong arguments", async () => {
  await using database = await openRuns();
  const connection = mongoose.createConnection();
  let runs = 0;
  const work = every("1h", "waits", () => runs++, { connection });
  const run = () => {};
  const wrong: [unknown[], string][] = [
    [["1 h", "a", run], 'the interval is "1 h"'],
    [["0s", "a", run], 'the interval is "0s"'],
    [[60_000, "a", run], 'the interval is "60000"'],
    [["1h", "", run], "the name is not a text"],
    [["1h", "a", "b"], "the work is not a function"],
    [["1h", "a", run, { leaseMS: 1 }], 'there is no option "leaseMS"'],
    [["1h", "a", run, { onError: 1 }], '"onError" is not a function'],
    [["1h", "a", run, { connection: {} }], "it is not a Mongoose connection"],
    [["1h", "waits", run, { connection }], "this process repeats it already"],
  ];
  for (const [given, message] of wrong) {
    assertThrows(() => (every as (...given: unknown[]) => void)(...given), TypeError, message);
  }
  await connection.openUri(database.uri);
  await until(() => runs === 1);
  await work.stop();
  await connection.close();
});
