import { assert, assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../mod.ts";
import { startFollow } from "../../src/changes/follow.ts";
import { type Change, follow, type FollowOptions } from "../../src/changes/mod.ts";
import { command, Note, openTickets, QUICK, start, Ticket } from "./followed.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";

/** What a handler was given, as a line of text. */
function told({ kind, _id, paths }: Change<Ticket>): string {
  return [kind, _id, ...[...paths].sort()].join(" ");
}

test("follow() tells of every kind of change, whoever makes it, and of none before its start", async () => {
  await using database = await openTickets();
  const { tickets, collection } = database;
  await tickets.create({ title: "before" });
  const seen: string[] = [];
  await using _ = await start({ handle: (change) => void seen.push(told(change)) });
  const one = await tickets.create({ title: "one" });
  one.state = "closed";
  await one.save();
  const { _id } = one;
  await collection.replaceOne({ _id }, { title: "two" });
  await collection.updateOne({ _id }, { $set: { count: 2 }, $unset: { title: 1 } });
  await collection.deleteOne({ _id });
  await until(() => seen.length === 5);
  assertEquals(seen, [
    `insert ${_id}`,
    `update ${_id} state`,
    `replace ${_id}`,
    `update ${_id} count title`,
    `remove ${_id}`,
  ]);
});

test("bulk writes and transactions are told for each entity", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const seen: string[] = [];
  await using _ = await start({ handle: (change) => void seen.push(told(change)) });
  const [a, b] = [new mongoose.Types.ObjectId(), new mongoose.Types.ObjectId()];
  await collection.bulkWrite([
    { insertOne: { document: { _id: a } } },
    { insertOne: { document: { _id: b } } },
    { updateMany: { filter: {}, update: { $inc: { count: 1 } } } },
  ]);
  await connection.transaction(async (session) => {
    await collection.updateOne({ _id: a }, { $set: { state: "x" } }, { session });
    await collection.deleteOne({ _id: a }, { session });
  });
  await collection.deleteMany({});
  await until(() => seen.length === 7);
  const of = (id: unknown) => seen.filter((line) => line.includes(String(id)));
  assertEquals(of(a), [`insert ${a}`, `update ${a} count`, `update ${a} state`, `remove ${a}`]);
  assertEquals(of(b), [`insert ${b}`, `update ${b} count`, `remove ${b}`]);
});

test("a change has the entity as a document and as values, before and after, where images are kept", async () => {
  await using database = await openTickets();
  const { tickets, collection } = database;
  const seen: unknown[] = [];
  await using _ = await start({
    async handle({ kind, before, entity, values, at, id, attempt, isReplay }) {
      const document = await entity();
      const after = await values();
      assert(document === undefined || document instanceof mongoose.Document);
      assert(Math.abs(Date.now() - at.getTime()) < 60_000 && id.length > 20);
      assertEquals([attempt, isReplay], [1, false]);
      seen.push([kind, before?.count, document?.label, after?.count, document?.toJSON().secret]);
    },
  });
  const { _id } = await tickets.create({ title: "one", secret: "s" });
  await collection.updateOne({ _id }, { $inc: { count: 1 } });
  await collection.updateOne({ _id }, { $inc: { count: 1 } });
  await collection.deleteOne({ _id });
  await until(() => seen.length === 4);
  assertEquals(seen, [
    ["insert", undefined, "one (open)", 0, undefined],
    ["update", 0, "one (open)", 1, undefined],
    ["update", 1, "one (open)", 2, undefined],
    ["remove", 2, undefined, undefined, undefined],
  ]);
});

/** A promise, and what resolves it. */
function gate() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => open = resolve);
  return { open, opened };
}

test("without images, an update gives what is stored now, and nothing of what is gone", async () => {
  await using _database = await openTickets();
  const notes = getModel(Note).collection;
  const seen: string[] = [];
  const { open, opened } = gate();
  const handle = async ({ kind, before, values }: Change<Note>) => {
    await opened;
    seen.push(`${kind} ${before} ${(await values())?.text}`);
  };
  const options = { name: "notes", handle };
  await using follower = startFollow(Note, { options, times: QUICK });
  await until(async () => await follower.lag() !== undefined);
  const { insertedId: _id } = await notes.insertOne({ text: "1" });
  for (const text of ["2", "3"]) await notes.updateOne({ _id }, { $set: { text } });
  const { insertedId: gone } = await notes.insertOne({ text: "gone" });
  await notes.updateOne({ _id: gone }, { $set: { text: "gone 2" } });
  await notes.deleteOne({ _id: gone });
  open();
  await until(() => seen.length === 6);
  assertEquals(seen.sort(), [
    ...["insert undefined 1", "insert undefined gone", "remove undefined undefined"],
    ...["update undefined 3", "update undefined 3", "update undefined undefined"],
  ]);
});

test("a change that fails is tried again, and only its entity waits", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: string[] = [];
  await using follower = await start({
    attempts: 10,
    async handle({ attempt, kind, values, _id }) {
      const title = (await values())?.title;
      seen.push(`${kind} ${title} ${attempt}`);
      if (title === "bad" && attempt < 3) throw new Error(`no ${_id}`);
    },
  }, { pauses: { firstMS: 300, longestMS: 300 } });
  const { insertedId: _id } = await collection.insertOne({ title: "bad" });
  await collection.updateOne({ _id }, { $set: { title: "good" } });
  for (const title of ["a", "b", "c"]) await collection.insertOne({ title });
  await until(() => seen.length === 7);
  assertEquals(seen.filter((line) => /bad|good/.test(line)), [
    ...["insert bad 1", "insert bad 2", "insert bad 3", "update good 1"],
  ]);
  assert(seen.indexOf("insert c 1") < seen.indexOf("insert bad 2"), seen.join());
  assertEquals(await follower.deadLetters(), []);
});

/** A follower whose handler refuses what is bad, as long as it is broken. */
async function startBroken(more: Partial<FollowOptions<Ticket>> = {}) {
  const state = { isBroken: true, seen: [] as string[], errors: [] as string[] };
  const follower = await start({
    async handle({ attempt, kind, values, isReplay }) {
      const { title, count } = await values() ?? {};
      const isBad = title === "bad" && kind === "insert";
      if (isBad && state.isBroken) throw new Error("It is broken");
      state.seen.push(`${kind} ${title} ${count} ${attempt} ${isReplay}`);
    },
    onError: (error, change) =>
      void state.errors.push(`${error} ${change?.kind} ${change?.attempt}`),
    ...more,
  });
  return Object.assign(state, follower);
}

test("a change that always fails becomes a dead letter", async () => {
  await using database = await openTickets();
  await using follower = await startBroken();
  const { insertedId: _id } = await database.collection.insertOne({ title: "bad" });
  await until(async () => (await follower.deadLetters()).length === 1);
  // It is told when the letter is stored.
  await until(() => follower.errors.length > 0);
  assertEquals(follower.errors, ["Error: It is broken insert 3"]);
  const [letter] = await follower.deadLetters();
  const isDate = letter?.diedAt instanceof Date && letter.at instanceof Date;
  const { id: _hidden, at: _at, diedAt: _diedAt, ...others } = letter ?? {};
  assertEquals([isDate, others], [true, {
    ...{ kind: "insert", _id, error: "Error: It is broken", attempts: 3 },
    ...{ isOvertaken: false, isDue: false },
  }]);
});

test("dead letters are listed oldest first, and 100 of them without a limit", async () => {
  await using database = await openTickets();
  await using follower = await startBroken({ attempts: 1, concurrency: 101 });
  const titles = Array.from({ length: 101 }, () => ({ title: "bad" }));
  await database.collection.insertMany(titles);
  const list = (limit: number) => follower.deadLetters({ limit });
  await until(async () => (await list(200)).length === 101);
  const ids = (await list(200)).map(({ id }) => id);
  assertEquals(ids, ids.toSorted());
  assertEquals((await list(2)).map(({ id }) => id), ids.slice(0, 2));
  assertEquals((await follower.deadLetters()).map(({ id }) => id), ids.slice(0, 100));
});

test("a dead letter is overtaken by later changes, and handled again on demand", async () => {
  await using database = await openTickets();
  const { collection } = database;
  await using follower = await startBroken();
  const { insertedId: _id } = await collection.insertOne({ title: "bad", count: 1 });
  await until(async () => (await follower.deadLetters()).length === 1);
  await collection.updateOne({ _id }, { $set: { count: 2 } });
  await until(async () => (await follower.deadLetters())[0]?.isOvertaken === true);
  assertEquals([await follower.replay(["nothing"]), await follower.replay()], [0, 1]);
  await until(() => follower.errors.length === 2);
  const [again] = await follower.deadLetters();
  assertEquals([again?.isDue, again?.isOvertaken, again?.attempts], [false, true, 3]);
  follower.isBroken = false;
  assertEquals(await follower.replay([again?.id ?? ""]), 1);
  await until(async () => (await follower.deadLetters()).length === 0);
  assertEquals(follower.seen, ["update bad 2 1 false", "insert bad 1 1 true"]);
});

test("dead letters are handled again although the database fails at first", async () => {
  await using database = await openTickets();
  const { collection, connection, name } = database;
  await using follower = await startBroken();
  await collection.insertOne({ title: "bad", count: 1 });
  await until(async () => (await follower.deadLetters()).length === 1);
  follower.isBroken = false;
  const namespace = `${name}.mongrove_dead_letters`;
  const data = { failCommands: ["find"], errorCode: 8000, namespace };
  await command(connection, { configureFailPoint: "failCommand", mode: { times: 1 }, data });
  await follower.replay();
  await until(() => follower.seen.length === 1);
  assertEquals(follower.seen, ["insert bad 1 1 true"]);
});

test("dead letters are handled again if onLost asks for it", async () => {
  await using database = await openTickets();
  const { collection, connection } = database;
  const first = await startBroken();
  await collection.insertOne({ title: "bad", count: 1 });
  await until(async () => (await first.deadLetters()).length === 1);
  await first.stop();
  const data = { failCommands: ["aggregate"], errorCode: 286 };
  await command(connection, { configureFailPoint: "failCommand", mode: { times: 1 }, data });
  await using second = await startBroken({ onLost: () => second.replay() });
  second.isBroken = false;
  await until(() => second.seen.length === 1);
  assertEquals(second.seen, ["insert bad 1 1 true"]);
});

test("a change that is delivered again and handled leaves no dead letter", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const first = await start({
    onError: () => {},
    handle: async ({ values, signal }) => {
      const { title } = await values() ?? {};
      if (title === "bad") throw new Error("It is broken");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  await collection.insertOne({ title: "waits" });
  const { insertedId: _id } = await collection.insertOne({ title: "bad" });
  await collection.updateOne({ _id }, { $set: { count: 1 } });
  await until(async () => (await first.deadLetters()).length === 2);
  // The change that waits keeps the follower from storing a later position.
  await first.stop({ timeoutMS: 50 });
  const seen: number[] = [];
  const handle = async ({ values }: Change<Ticket>) => {
    const { title, count = 0 } = await values() ?? {};
    if (count === 1) throw new Error("It is broken");
    if (title === "bad") seen.push(count);
  };
  await using second = await start({ handle, onError: () => {} });
  await until(() => seen.length === 1);
  await collection.updateOne({ _id }, { $set: { count: 2 } });
  await until(() => seen.length === 2);
  await until(async () => (await second.deadLetters())[0]?.isOvertaken === true);
  assertEquals([seen, (await second.deadLetters()).map(({ kind }) => kind)], [[0, 2], ["update"]]);
});

test("a handler that hangs is aborted, and counts as one that failed", async () => {
  await using database = await openTickets();
  const reasons: string[] = [];
  await using follower = await start({
    timeoutMS: 50,
    handle: ({ signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => reasons.push(String(signal.reason)));
      }),
    onError: () => {},
  });
  await database.collection.insertOne({ title: "hangs" });
  await until(async () => (await follower.deadLetters()).length === 1);
  assertEquals(reasons, Array(3).fill("Error: The handler took more than 50 ms"));
});

test("entities as large as MongoDB allows are delivered, with images, and become dead letters", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const seen: unknown[] = [];
  await using follower = await start({
    async handle({ kind, before, values }) {
      // Servers before 6.0.9 have no message that is large enough
      const length = kind === "update" ? before?.title?.length ?? 15_000_000 : undefined;
      seen.push([kind, length, (await values())?.title?.length]);
      if (kind === "update") throw new Error("Too large");
    },
    onError: () => {},
  });
  const { insertedId: _id } = await collection.insertOne({ title: "x".repeat(15_000_000) });
  // A handler gets the values of the moment.
  await until(() => seen.length === 1);
  await collection.updateOne({ _id }, { $set: { title: "y".repeat(16_000_000) } });
  await until(async () => (await follower.deadLetters()).length === 1);
  assertEquals(seen.slice(0, 2), [
    ["insert", undefined, 15_000_000],
    ["update", 15_000_000, 16_000_000],
  ]);
});

test("thousands of changes are in order for each entity, and none is missed", async () => {
  await using database = await openTickets();
  const { collection } = database;
  const last = new Map<string, number>();
  const wrong: string[] = [];
  let count = 0;
  await using follower = await start({
    async handle({ _id, values }) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
      const [key, now] = [String(_id), (await values())?.count ?? -1];
      if (now !== (last.get(key) ?? 0) + 1) wrong.push(`${key}: ${now} after ${last.get(key)}`);
      last.set(key, now);
      count++;
    },
  });
  const ids = Array.from({ length: 50 }, () => new mongoose.Types.ObjectId());
  await collection.insertMany(ids.map((_id) => ({ _id, title: "x", count: 1 })));
  for (let round = 0; round < 60; round++) {
    await collection.updateMany({}, { $inc: { count: 1 } });
  }
  await until(() => count === 50 * 61);
  assertEquals(wrong, []);
  await until(async () => await follower.lag() === 0);
});

test("follow() refuses wrong options", async () => {
  await using _database = await openTickets();
  const handle = () => {};
  const wrong = (options: object) => () => follow(Ticket, { name: "a", handle, ...options });
  assertThrows(wrong({ name: "a/b" }), TypeError, 'Cannot follow "Ticket": the name is "a/b"');
  for (const name of [undefined, null, 1, ["a"]]) {
    assertThrows(wrong({ name }), TypeError, `Cannot follow "Ticket": the name is ${typeof name}`);
  }
  assertThrows(wrong({ handle: 1 }), TypeError, 'Cannot follow "Ticket": handle is no function');
  assertThrows(wrong({ onlost: handle }), TypeError, 'there is no limit "onlost"');
  assertThrows(wrong({ timeoutMS: 2 ** 31 }), RangeError, "which is more than 2147483647");
  assertThrows(wrong({ attempts: -1 }), RangeError, '"attempts" is -1');
  assertThrows(wrong({ retry: { attempts: 1 } }), TypeError, '"retry", which is now "attempts"');
  const fixed = '"leaseMS", which was removed: leases have a fixed duration';
  assertThrows(wrong({ leaseMS: 1 }), TypeError, fixed);
});

test("the types of a change are those of the class", () => {
  const _check = (change: Change<Ticket>) => {
    const title: string | undefined = change.before?.title;
    // @ts-expect-error there is no such field
    change.before?.titel;
    // @ts-expect-error values have no methods
    change.before?.save();
    return [title, change.entity().then((ticket) => ticket?.label)];
  };
  // @ts-expect-error a number is no name
  const _wrong = () => follow(Ticket, { name: 1, handle: () => {} });
});
