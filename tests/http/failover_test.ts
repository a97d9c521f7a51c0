import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { all, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { longTest } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Makes a model whose operations all take the direct path, on a connection. */
function buildNotes(connection: Connection): ModelClass {
  @rest({
    route: "/notes",
    methods: [all(), one(), create(), update()],
    getConnection: () => connection,
  })
  class Note extends FrameworkModel {
    @prop()
    text?: string;
  }
  return Note;
}

/** What a primary answers that cannot write any more, or is about to end. */
const NOT_PRIMARY = [10107, 189, 91, 11600];

/** Serves notes on a replica set of its own whose commands can be made to fail. */
async function openReplicaSet(members: number) {
  const args = ["--setParameter", "enableTestCommands=1"];
  const mongo = await startMongo({ replicaSet: members, args });
  // The driver looks for a primary at once, or, if that look fails on a busy machine, at its next heartbeat
  const options = { dbName: "failover", heartbeatFrequencyMS: 500 };
  const connection = await mongoose.createConnection(mongo.uri, options).asPromise();
  const app = await mount([buildNotes(connection)], { limits: { timeMS: 5000 } });
  const { _id } = await app.created("/notes", {});
  return {
    connection,
    list: () => app.get("/notes"),
    one: () => app.get(`/notes/${_id}`),
    update: () => app.patch(`/notes/${_id}`, { text: "a" }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await connection.close();
      await mongo.stop();
    },
  };
}

/** Makes the next commands fail as a fail point says. */
async function failNext(connection: Connection, data: object): Promise<void> {
  await connection.getClient().db("admin").command({
    configureFailPoint: "failCommand",
    mode: { times: 2 },
    data,
  });
}

longTest(
  "update(), one() and all() answer 503 once, then work, when a primary refuses twice",
  async (t) => {
    await using served = await openReplicaSet(1);
    const { connection, list, one, update } = served;
    const calls = [["findAndModify", update], ["find", one], ["find", list]] as const;
    for (const [command, call] of calls) {
      for (const code of NOT_PRIMARY) {
        await t.step(`${command} that fails with ${code}`, async () => {
          await failNext(connection, { failCommands: [command], errorCode: code });
          const statuses = [(await call()).status, (await call()).status, (await call()).status];
          assertEquals(statuses, [503, 200, 200]);
        });
      }
    }
  },
);

longTest("update(), one() and all() answer no 500 while a primary steps down", async () => {
  await using served = await openReplicaSet(3);
  const { connection, list, one, update } = served;
  const statuses = new Set<number>();
  let done = false;
  const repeat = async (call: () => Promise<{ status: number }>) => {
    while (!done) statuses.add((await call()).status);
  };
  const calls = [update, one, list];
  const running = [...calls, ...calls, ...calls].map(repeat);
  for (let left = 3; left > 0; left--) {
    await stepDown(connection);
    await update();
  }
  done = true;
  await Promise.all(running);
  statuses.delete(503);
  assertEquals([...statuses], [200]);
});

async function stepDown(connection: Connection): Promise<void> {
  const command = { replSetStepDown: 5, secondaryCatchUpPeriodSecs: 2, force: true };
  await connection.getClient().db("admin").command(command).catch(() => {});
}
