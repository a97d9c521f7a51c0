import { assert, assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { FOUR, SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

/** Hooks that let everything pass, and ask for documents. */
const pass = { preSave: (_req: FrameworkRequest, entity: object) => entity };
const HOOKED = [one({ postFetch: pass.preSave }), create(pass), update(pass), remove(pass)];

class Task extends FrameworkModel {
  @prop()
  state?: string;
  @prop({ type: Number, set: (value: number) => value * 100 })
  cost?: number;
  @rest({ methods: [all(), one(), update(), remove()] })
  @arrayProp({ items: () => Task, embedded: true })
  steps?: Task[];
}

@rest({ route: "/boards", methods: [one()] })
class Board extends FrameworkModel {
  @rest({ route: "/tasks", methods: SIX })
  @rest({ route: "/hooked", methods: [all(), ...HOOKED, removeAll(pass)] })
  @arrayProp({ items: Task, embedded: true })
  tasks?: Task[];
  @rest({ route: "/current", methods: FOUR })
  @rest({ route: "/watched", methods: HOOKED })
  @prop({ type: Task })
  current?: Task;
}

const OPEN = asQuery({ state: "open" });
const RACERS = 8;

/** Stores a board, and gives the addresses of all its parts that are open. */
async function putBoard() {
  const task = { state: "open", cost: 5, steps: [{ state: "open" }] };
  const made = await getModel(Board).create({ tasks: [task], current: task } as never);
  const board = made as unknown as Board;
  const [first] = board.tasks as [Task];
  const at = `/boards/${board._id}`;
  return {
    board,
    at,
    parts: [
      `${at}/tasks/${first._id}`,
      `${at}/hooked/${first._id}`,
      `${at}/current`,
      `${at}/watched`,
      `${at}/tasks/${first._id}/steps/${first.steps?.[0]?._id}`,
    ],
  };
}

/** Sends a request several times at once; one is to succeed, the others are late. */
async function race(
  send: (sender: number) => Promise<{ status: number }>,
  success: number,
): Promise<void> {
  const replies = await Promise.all(Array.from({ length: RACERS }, (_, sender) => send(sender)));
  const statuses = replies.map(({ status }) => status);
  assertEquals(statuses.filter((status) => status === success).length, 1, String(statuses));
  assert(statuses.every((status) => [success, 404, 409].includes(status)), String(statuses));
}

test("update() of a part with q succeeds once, however many send it at once", async () => {
  await using app = await mount([Board]);
  for (const index of [0, 1, 2, 3, 4]) {
    const { parts } = await putBoard();
    await race((sender) => app.patch(`${parts[index]}${OPEN}`, { state: `closed${sender}` }), 200);
  }
});

test("remove() of a part with q succeeds once, however many send it at once", async () => {
  await using app = await mount([Board]);
  for (const index of [0, 1, 2, 3, 4]) {
    const { parts } = await putBoard();
    await race(() => app.delete(`${parts[index]}${OPEN}`), 204);
  }
});

test("a part that q selected no more when it is written is 409, and stays as it is", async () => {
  await using app = await mount([Moving]);
  const made = await getModel(Moving).create({ tasks: [{ state: "open" }] } as never);
  const { _id, tasks } = made as unknown as Moving;
  const at = `/moving/${_id}/tasks/${tasks?.[0]?._id}${OPEN}`;
  const statuses = [(await app.patch(at, { cost: 1 })).status];
  await getModel(Moving).updateOne({ _id }, { $set: { "tasks.0.state": "open" } });
  statuses.push((await app.delete(at)).status);
  const [task] = (await getModel(Moving).findById(_id))?.tasks ?? [];
  assertEquals([...statuses, task?.state, task?.cost], [409, 409, "moved", undefined]);
});

/** Moves the task that is being written, as someone else would in the middle of a request. */
const moving = {
  preSave: async (_req: FrameworkRequest, task: Entity<Task>) => {
    const outside = { $set: { "tasks.$.state": "moved" } };
    await getModel(Moving).collection.updateOne({ "tasks._id": task._id as never }, outside);
    return task;
  },
};

@rest({ route: "/moving", methods: [one()] })
class Moving extends FrameworkModel {
  @rest({ methods: [one(), update<Task>(moving), remove<Task>(moving), removeAll<Task>(moving)] })
  @arrayProp({ items: Task, embedded: true })
  tasks?: Task[];
}

test("removeAll() of parts leaves those that q selects no more when they are removed", async () => {
  await using app = await mount([Moving]);
  const tasks = [{ state: "open" }, { state: "open" }, { state: "new" }];
  const made = await getModel(Moving).create({ tasks } as never);
  const { status } = await app.delete(`/moving/${made._id}/tasks${OPEN}`);
  const stored = (await getModel(Moving).findById(made._id))?.tasks ?? [];
  assertEquals([status, stored.map(({ state }) => state)], [204, ["moved", "moved", "new"]]);
});

test("the q of a part binds its write as it was read: setters of its fields run once", async () => {
  await using app = await mount([Board]);
  const { parts } = await putBoard();
  for (const part of parts.slice(0, 4)) {
    const query = asQuery({ cost: { $gte: 5 }, $or: [{ cost: { $lt: 6 } }, { state: "x" }] });
    assertEquals((await app.patch(`${part}${query}`, { state: "open" })).status, 200);
    assertEquals((await app.delete(`${part}${asQuery({ state: "new" })}`)).status, 404);
  }
});

test("a filter of a hook that no statement can ask binds the writes of parts", async () => {
  const equal = (req: FrameworkRequest) => {
    req.framework.filter = { $expr: { $eq: ["$state", "open"] } };
    return true;
  };
  const methods = [one(), update({ preFetch: equal }), remove({ preFetch: equal })];
  @rest({ route: "/asked", methods: [one()] })
  class Asked extends FrameworkModel {
    @rest({ methods })
    @arrayProp({ items: Task, embedded: true })
    tasks?: Task[];
    @rest({ methods })
    @prop({ type: Task })
    current?: Task;
  }
  await using app = await mount([Asked]);
  const task = { state: "open" };
  const made = await getModel(Asked).create({ tasks: [task], current: task } as never);
  const { _id, tasks } = made as unknown as Asked;
  for (const part of [`tasks/${tasks?.[0]?._id}`, "current"]) {
    const at = `/asked/${_id}/${part}`;
    assertEquals((await app.patch(at, { cost: 1 })).status, 200);
    await race(() => app.patch(at, { state: "closed" }), 200);
    assertEquals((await app.delete(at)).status, 404);
  }
});
