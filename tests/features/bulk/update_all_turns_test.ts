import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { FrameworkModel, getModel, prop, rest, updateAll } from "../../../mod.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, mount } from "../../support/support.ts";

let connection: mongoose.Connection;

const methods = [updateAll({ fields: ["state"] as never })];
const getConnection = () => connection;

@rest({ route: "/tasks", methods, getConnection })
class Task extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  state?: string;
}

@rest({ route: "/others", methods, getConnection })
class Other extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  state?: string;
}

/** Serves entities with the names "a" and "b", and notes the answers to changes in their order. */
async function openTasks() {
  connection = await mongoose.createConnection(await sharedReplicaSet(), { monitorCommands: true })
    .asPromise();
  for (const model of [Task, Other]) {
    await getModel(model, connection).create([{ name: "a" }, { name: "b" }]);
  }
  const app = await mount([Task, Other]);
  const answered: string[] = [];
  return {
    answered,
    tasks: getModel(Task, connection),
    async change(path: string, name: string) {
      const { status } = await app.patch(`${path}${asQuery({ name })}`, { state: "done" });
      answered.push(`${path} ${name} ${status}`);
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await connection.close();
    },
  };
}

/** Waits for a second conflict: the first one is that of a change which takes a turn after it. */
function secondConflict(): Promise<void> {
  let count = 0;
  return new Promise((resolve) =>
    connection.getClient().on("commandFailed", ({ failure }) => {
      if ((failure as { code?: unknown }).code === 112 && ++count === 2) resolve();
    })
  );
}

test("a change of many that has met another write is not overtaken in its collection, and holds up no other one", async () => {
  await using app = await openTasks();
  const { answered, change, tasks } = app;
  const session = await connection.startSession();
  session.startTransaction();
  await tasks.updateOne({ name: "a" }, { state: "late" }, { session });
  const conflict = secondConflict();
  const first = change("/tasks", "a");
  await conflict;
  const second = change("/tasks", "b");
  await change("/others", "a");
  const early = [...answered];
  await session.abortTransaction();
  await session.endSession();
  await Promise.all([first, second]);
  assertEquals(early, ["/others a 200"]);
  assertEquals(answered, ["/others a 200", "/tasks a 200", "/tasks b 200"]);
});
