import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { getModel } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, mount } from "../../support/support.ts";
import { BOTH, change, storeMany, taskModel, valuesOf } from "./tasks.ts";
import { openReplicaSet, sharedReplicaSet } from "../../support/shared_replica_set.ts";

const COUNT = 20;

/** Makes commands of the application fail. */
function faultsOf(host: Connection) {
  const admin = host.getClient().db("admin");
  return {
    fail: (failCommands: string[], data: object, mode: object | string = { times: 1 }) =>
      admin.command({
        ...{ configureFailPoint: "failCommand", mode },
        data: { failCommands, appName: "tasks", ...data },
      }),
    /** Ends the fault, and what it has left open: the server has not seen the commit that failed. */
    async heal() {
      await admin.command({ configureFailPoint: "failCommand", mode: "off" });
      await admin.command({ killAllSessions: [] });
    },
  };
}

/** Serves tasks from a server whose commands can be made to fail. */
async function openTasks(maxTimeMS = 10_000) {
  const mongo = await openReplicaSet();
  const options = { appName: "tasks", monitorCommands: true };
  const connection = await mongoose.createConnection(mongo.uri, options).asPromise();
  const host: Connection = await mongoose.createConnection(mongo.uri).asPromise();
  const sent: string[] = [];
  connection.getClient().on("commandStarted", ({ commandName }) => sent.push(commandName));
  const model = taskModel({}, { getConnection: () => connection });
  const app = await mount([model], { limits: { timeMS: maxTimeMS }, onError: () => {} });
  const collection = host.collection("tasks");
  // A transaction cannot read a collection whose indexes are being built.
  await getModel(model, connection).init();
  return {
    ...{ app, sent, collection, connection },
    /** Stores tasks that all are open. */
    async fill() {
      await collection.deleteMany({});
      const all = Array.from(
        { length: COUNT },
        (_, rank) => ({ title: "t", state: "open", rank, __v: 0 }),
      );
      await collection.insertMany(all);
    },
    /** How many tasks are done, and how often all of them were changed. */
    async look() {
      const found = await collection.find({}).toArray();
      const done = found.filter(({ state }) => state === "done").length;
      return [done, found.reduce((sum, { __v }) => sum + __v, 0)];
    },
    ...faultsOf(host),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await Promise.all([host.close(), connection.close()]);
      await mongo.stop();
    },
  };
}

/** What the server does to a command, once: whether the request survives it. */
const FAULTS: readonly (readonly [name: string, data: object])[] = [
  ["a write conflict", { errorCode: 112, errorLabels: ["TransientTransactionError"] }],
  ["a time-out", { errorCode: 50 }],
  ["an error", { errorCode: 8 }],
  ["a lost connection", { closeConnection: true }],
  ["a primary that steps down", { errorCode: 189 }],
];

type Tasks = Awaited<ReturnType<typeof openTasks>>;

/** Changes all tasks while a command fails once; all are changed or none. Tells whether the client was told so. */
async function survive({ app, fill, look, fail, heal }: Tasks, { route, command, data }: {
  readonly route: string;
  readonly command: string;
  readonly data: object;
}): Promise<boolean> {
  await fill();
  await fail([command], data);
  const { status, body } = await change(app, { route, body: { state: "done" } });
  await heal();
  const [done, versions] = await look();
  if (status === 200) {
    assertEquals(body, { matched: COUNT, modified: COUNT });
    assertEquals([done, versions], [COUNT, COUNT]);
    return true;
  }
  assertEquals([500, 503].includes(status), true);
  // A commit may have happened that nobody was told of.
  const isAll = command === "commitTransaction" && done === COUNT;
  assertEquals([done, versions], isAll ? [COUNT, COUNT] : [0, 0]);
  return false;
}

test("updateAll() changes all or none, whichever of its commands fails", async (t) => {
  await using tasks = await openTasks();
  const survived: string[] = [];
  for (const [index, route] of BOTH.entries()) {
    for (const command of [["aggregate", "find"][index] ?? "", "update", "commitTransaction"]) {
      for (const [name, data] of FAULTS) {
        const step = `${route}: ${command} meets ${name}`;
        await t.step(step, async () => {
          if (await survive(tasks, { route, command, data })) survived.push(step);
        });
      }
    }
  }
  const transient = ["update", "commitTransaction"].flatMap((command) =>
    BOTH.map((route) => `${route}: ${command} meets a write conflict`)
  );
  assertEquals(transient.filter((each) => !survived.includes(each)), []);
});

test("updateAll() that is tried again sends the same updates, and runs hooks once", async () => {
  await using tasks = await openTasks();
  const { app, fill, look, fail, heal, sent } = tasks;
  for (const route of BOTH) {
    await fill();
    sent.length = 0;
    const label = { errorLabels: ["TransientTransactionError"] };
    await fail(["update"], { errorCode: 112, ...label }, { times: 3 });
    const reply = await change(app, { route, body: { state: "done" } });
    await heal();
    assertEquals([reply.status, await look()], [200, [COUNT, COUNT]]);
    assertEquals(sent.filter((name) => name === "update").length, 4);
    const reads = sent.filter((name) => name === (route === "/tasks" ? "aggregate" : "find"));
    assertEquals(reads.length, route === "/tasks" ? 4 : 1);
  }
});

test("updateAll() whose commits fail for ever answers 503, and changes none", async () => {
  await using tasks = await openTasks(500);
  const { app, fill, look, fail, heal } = tasks;
  for (const route of BOTH) {
    await fill();
    const label = { errorLabels: ["TransientTransactionError"] };
    await fail(["commitTransaction"], { errorCode: 112, ...label }, "alwaysOn");
    const reply = await change(app, { route, body: { state: "done" } });
    await heal();
    assertEquals([reply.status, await look()], [503, [0, 0]]);
  }
});

test("updateAll() of the same entities at once loses nothing, and each is whole", async () => {
  await using tasks = await openTasks();
  const { app, fill, collection } = tasks;
  for (const route of BOTH) {
    await fill();
    const replies = await Promise.all(
      Array.from(
        { length: 24 },
        (_, index) => change(app, { route, body: { owner: `o${index}`, note: `o${index}` } }),
      ),
    );
    const accepted = replies.filter(({ status }) => status === 200).length;
    assertEquals(replies.every(({ status }) => [200, 409, 503].includes(status)), true);
    const found = await collection.find({}).toArray();
    // Every change that was acknowledged has counted once in each.
    assertEquals([...new Set(found.map(({ __v }) => __v))], [accepted]);
    assertEquals(new Set(found.map(({ owner }) => owner)).size, 1);
    assertEquals(found.every(({ owner, note }) => owner === note), true);
    // Documents that another request has changed since they were read are a 409.
    assertEquals(route === BOTH[0] ? accepted === 24 : accepted > 0, true);
  }
});

test("updateAll() beside other writes of the same entities loses none of them", async () => {
  await using tasks = await openTasks();
  const { app, fill, collection } = tasks;
  for (const route of BOTH) {
    await fill();
    const others = Array.from({ length: 40 }, async (_, index) => {
      const { modifiedCount } = await collection.updateOne({ rank: index % COUNT }, {
        $inc: { __v: 1, counted: 1 },
      });
      return modifiedCount;
    });
    const changes = Array.from(
      { length: 5 },
      (_, index) => change(app, { route, body: { owner: `o${index}` } }),
    );
    const told = (await Promise.all(others)).reduce((sum, each) => sum + each, 0);
    const accepted = (await Promise.all(changes)).filter(({ status }) => status === 200).length;
    const found = await collection.find({}).toArray();
    assertEquals([told, found.reduce((sum, { counted }) => sum + counted, 0)], [40, 40]);
    assertEquals(found.every(({ __v, counted }) => __v === counted + accepted), true, route);
  }
});

/** Holds the first task in its hook, until it is released. */
function gate() {
  const waiting: (() => void)[] = [];
  const held: { release: () => void } = { release: () => {} };
  return {
    held,
    begun: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    async preSave<E extends { rank?: number }>(_req: unknown, task: E): Promise<E> {
      if (task.rank !== 0) return task;
      await new Promise<void>((resolve) => {
        held.release = resolve;
        for (const begin of waiting.splice(0)) begin();
      });
      return task;
    },
  };
}

test("updateAll() whose selection changes meanwhile changes all of it or nothing", async () => {
  const { held, begun, preSave } = gate();
  const mongo = await sharedReplicaSet();
  const model = taskModel({ preSave });
  await using app = await mount([model], { mongo });
  const tasks = app.database.connection.collection("tasks");
  const run = async (update: object | null) => {
    await storeMany(model, 3, { tags: ["a"] });
    const isHeld = begun();
    const body = { state: "done", tags: ["b"] };
    const reply = app.patch(`/tasks${asQuery({ state: "open" })}`, body);
    await isHeld;
    await (update === null ? tasks.deleteOne({ rank: 2 }) : tasks.updateOne({ rank: 2 }, update));
    held.release();
    return [(await reply).status, ...await valuesOf(model, "state")];
  };
  assertEquals(await run({ $set: { owner: "me" } }), [200, "done", "done", "done"]);
  assertEquals(await run({ $set: { state: "late" } }), [409, "open", "open", "late"]);
  assertEquals(await run({ $push: { tags: "c" } }), [409, "open", "open", "open"]);
  assertEquals(await run(null), [409, "open", "open"]);
});
