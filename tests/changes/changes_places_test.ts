import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { startFollow } from "../../src/changes/follow.ts";
import type { Change, FollowOptions, LostChanges } from "../../src/changes/mod.ts";
import { command, openTickets, QUICK, start, Ticket } from "./followed.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";

test("what happens while nobody follows is delivered later, and lag() tells how old it is", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: string[] = [];
  const handle = async ({ values }: Change<Ticket>) =>
    void seen.push((await values())?.title ?? "");
  const first = await start({ handle });
  await collection.insertOne({ title: "1" });
  await until(() => seen.length === 1);
  await until(async () => await first.lag() === 0);
  await first.stop();
  await collection.insertMany([{ title: "2" }, { title: "3" }]);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert(Number(await first.lag()) >= 1500, `${await first.lag()}`);
  await using second = await start({ handle });
  await until(() => seen.length === 3);
  assertEquals(seen.sort(), ["1", "2", "3"]);
  await until(async () => await second.lag() === 0);
});

test("lag() is the age of the oldest change that is not handled", async () => {
  await using database = await openTickets();
  await using follower = await start({
    attempts: 1000,
    async handle({ values }) {
      if ((await values())?.title === "bad") throw new Error("bad");
    },
  }, { pauses: { firstMS: 50, longestMS: 50 } });
  await database.collection.insertOne({ title: "bad" });
  for (let rest = 0; rest < 20; rest++) {
    await database.collection.insertOne({ title: "good" });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await until(async () => Number(await follower.lag()) > 2000);
  await database.collection.updateOne({ title: "bad" }, { $set: { title: "good" } });
});

test("one of several followers of a name handles changes; another one goes on when it stops", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: string[] = [];
  const open = (who: string) => start({ handle: () => void seen.push(who) });
  const first = await open("first");
  await using _second = await open("second");
  await collection.insertMany(Array.from({ length: 20 }, () => ({ title: "x" })));
  await until(() => seen.length === 20);
  assertEquals(new Set(seen), new Set(["first"]));
  await first.stop();
  await collection.insertOne({ title: "y" });
  await until(() => seen.length === 21);
  assertEquals(seen.at(-1), "second");
});

test("a handler that outlives the lease is aborted, and notes nothing", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const seen: string[] = [];
  const end: (() => void)[] = [];
  await using _ = await start({
    handle: async ({ values, signal }) => {
      const { title = "" } = await values() ?? {};
      signal.addEventListener("abort", () => seen.push(`${title} aborted`));
      seen.push(title);
      if (seen.length === 1) await new Promise<void>((resolve) => end.push(resolve));
    },
  });
  await collection.insertOne({ title: "slow" });
  await until(() => seen.length === 1);
  const records = connection.collection("mongrove_follows");
  const later = new Date(Date.now() + 3000);
  await records.updateOne({}, { $set: { holder: new mongoose.Types.ObjectId(), until: later } });
  await until(() => seen.length === 2);
  const kept = await records.findOne({});
  for (const resolve of end) resolve();
  await until(() => seen.length === 3);
  assertEquals(seen, ["slow", "slow aborted", "slow"]);
  assert(kept?.token === undefined || !JSON.stringify(kept).includes("slow"));
});

test("stop() waits for handlers that run, and starts no others", async () => {
  await using database = await openTickets();
  const seen: string[] = [];
  let begun = 0;
  const handle = async ({ values }: Change<Ticket>) => {
    begun++;
    await new Promise((resolve) => setTimeout(resolve, 300));
    seen.push((await values())?.title ?? "");
  };
  const first = await start({ handle, concurrency: 1 });
  await database.collection.insertMany(["1", "2", "3"].map((title) => ({ title })));
  await until(() => begun === 2);
  await Promise.all([first.stop(), first.stop()]);
  assertEquals(seen, ["1", "2"]);
  await using _ = await start({ handle });
  await until(() => seen.length === 3);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assertEquals(seen, ["1", "2", "3"]);
});

test("stop() gives up handlers that do not end, and their changes are delivered again", async () => {
  await using database = await openTickets();
  let calls = 0;
  let reason = "";
  const handle = ({ signal }: Change<Ticket>) =>
    new Promise<void>((resolve) => {
      if (++calls > 1) return resolve();
      signal.addEventListener("abort", () => reason = String(signal.reason));
    });
  const first = await start({ handle });
  await database.collection.insertOne({ title: "1" });
  await until(() => calls === 1);
  await first.stop({ timeoutMS: 100 });
  assertEquals(reason, "Error: The follower has stopped");
  await using _ = await start({ handle });
  await until(() => calls === 2);
});

/** Follows with a record of what is lost. */
async function startLosing(seen: string[], more: Partial<FollowOptions<Ticket>> = {}) {
  return await start({
    handle: async ({ kind, values }) => void seen.push(`${kind} ${(await values())?.title}`),
    onLost: ({ reason, since }: LostChanges) =>
      void seen.push(`lost: ${reason} ${Date.now() - since.getTime() < 60_000}`),
    ...more,
  });
}

test("a collection that is dropped or renamed is told once, and what follows is delivered", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const seen: string[] = [];
  await using _ = await startLosing(seen);
  await collection.insertOne({ title: "1" });
  await collection.drop();
  await collection.insertOne({ title: "2" });
  await until(() => seen.length === 3);
  await connection.db?.collection("tickets").rename("old");
  await collection.insertOne({ title: "3" });
  await until(() => seen.length === 5);
  assertEquals(seen, [
    ...["insert 1", "lost: dropped true", "insert 2", "lost: dropped true", "insert 3"],
  ]);
});

test("what is written after a database was dropped is delivered, though the place is gone with it", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const seen: string[] = [];
  const losing: Partial<FollowOptions<Ticket>> = { onError: () => {} };
  await using _first = await startLosing(seen, losing);
  await using _second = await startLosing(seen, losing);
  await collection.insertOne({ title: "1" });
  await until(() => seen.length === 1);
  await connection.dropDatabase();
  await until(() => seen.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await collection.insertOne({ title: "2" });
  await until(() => seen.includes("insert 2"));
  // The other process may tell again of what it has not seen to be handled
  assertEquals([...new Set(seen)], ["insert 1", "lost: dropped true", "insert 2"]);
});

test("a history that is lost is told, again if that fails, and nothing since is missed", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const seen: string[] = [];
  let failures = 1;
  const first = await startLosing(seen);
  await collection.insertOne({ title: "1" });
  await until(() => seen.length === 1);
  await first.stop();
  await collection.insertOne({ title: "2" });
  const data = { failCommands: ["aggregate"], errorCode: 286 };
  await command(connection, { configureFailPoint: "failCommand", mode: { times: 1 }, data });
  await using _ = await startLosing(seen, {
    onError: (error) => void seen.push(String(error)),
    async onLost({ reason }) {
      seen.push(`lost: ${reason}`);
      if (failures-- > 0) throw new Error("Not now");
      await collection.insertOne({ title: "3" });
    },
  });
  await until(() => seen.length === 5);
  assertEquals(seen, [
    ...["insert 1", "lost: history", "Error: Not now", "lost: history", "insert 3"],
  ]);
});

test("a failure of the database is told once, and changes are delivered when it is over", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const [seen, errors]: [string[], string[]] = [[], []];
  await using _ = await startLosing(seen, { onError: (error) => void errors.push(String(error)) });
  const namespace = `${database.name}.tickets`;
  const data = { failCommands: ["getMore", "aggregate"], errorCode: 8000, namespace };
  await command(connection, { configureFailPoint: "failCommand", mode: { times: 3 }, data });
  await until(() => errors.length === 1);
  await collection.insertOne({ title: "1" });
  await until(() => seen.length === 1);
  assertEquals(errors.length, 1, errors.join("\n"));
});

test("without a replica set, the error says why, and a connection that opens later is waited for", async () => {
  const errors: string[] = [];
  const connection = mongoose.createConnection();
  const onError = (error: unknown) => void errors.push(String(error));
  const options = { name: "a", handle: () => {}, connection, onError };
  await using _ = startFollow(Ticket, { options, times: QUICK });
  await connection.openUri(Deno.env.get("MONGODB_URI") ?? "", { dbName: "mongrove_changes" });
  await until(() => errors.length > 0);
  assert(/replica set/.test(errors[0] ?? ""), errors[0]);
  await connection.close();
});

test("`since` is not later than the lost change, although nothing has happened before for a while", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const lost: LostChanges[] = [];
  const seen: Date[] = [];
  await using follower = await start({
    handle: ({ at }) => void seen.push(at),
    onLost: (each) => void lost.push(each),
  });
  await collection.insertOne({ title: "1" });
  await until(async () => await follower.lag() === 0 && seen.length === 1);
  await collection.insertOne({ _id: "x".repeat(8_000_000), title: "a" } as object);
  await until(() => lost.length === 1);
  assertEquals([lost[0]?.reason, lost[0]?.since], ["size", seen[0]]);
});

test("stop() gives up an onLost that does not end, and the next process is told of the loss", async () => {
  await using database = await openTickets();
  const seen: string[] = [];
  await (await start()).stop();
  const data = { failCommands: ["aggregate"], errorCode: 286 };
  const mode = { times: 1 };
  await command(database.connection, { configureFailPoint: "failCommand", mode, data });
  const first = await start({
    onError: (error) => void seen.push(String(error)),
    onLost: ({ reason, signal }) =>
      new Promise<void>(() => {
        seen.push(reason);
        signal.addEventListener("abort", () => seen.push("aborted"));
      }),
  });
  await until(() => seen.length === 1);
  await command(database.connection, { configureFailPoint: "failCommand", mode, data });
  await first.stop({ timeoutMS: 100 });
  assertEquals(seen, ["history", "aborted"]);
  await using _ = await start({ onLost: ({ reason }) => void seen.push(reason) });
  await until(() => seen.length === 3);
  assertEquals(seen.at(-1), "history");
});
