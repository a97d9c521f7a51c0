import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { ClientSession, Connection } from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Reply } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";
import { until } from "../support/until.ts";

class Card extends FrameworkModel {
  @prop()
  text?: string;
}

class Person extends FrameworkModel {
  @prop()
  text?: string;
}

const hooks = { preSave: pass };
const methods = [one(), create(), update(), remove()];

class Held extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ unique: true, sparse: true })
  code?: string;
}

@rest({
  route: "/boards",
  methods: [one(), create({ many: 10 }), update(), remove(), replace()],
})
@rest({
  route: "/hooked",
  methods: [one(), create(hooks), update(hooks), remove(hooks), replace(hooks)],
})
class Board extends Held {
  @rest({ methods })
  @arrayProp({ items: Card, embedded: true })
  cards?: Card[];
  @rest({ methods })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
}

/** Serves boards, and one board that a transaction can lock. */
async function openBoards({ maxTimeMS = 10_000, maxPoolSize = 100 } = {}) {
  const mongo = await sharedReplicaSet();
  const uri = new URL(mongo);
  uri.searchParams.set("maxPoolSize", String(maxPoolSize));
  const app = await mount([Board], {
    mongo: String(uri),
    limits: { timeMS: maxTimeMS },
    onError: () => {},
  });
  const held = new Set<number | "<monitor>">();
  app.database.connection.getClient()
    .on("connectionCheckedOut", ({ connectionId }) => held.add(connectionId))
    .on("connectionCheckedIn", ({ connectionId }) => held.delete(connectionId));
  const boards = getModel(Board);
  await boards.init();
  await getModel(Person).createCollection();
  const { _id } = await app.created("/boards", { text: "locked" });
  const path = `/boards/${_id}`;
  const [card, person] = [
    await app.created(`${path}/cards`, { text: "a" }),
    await app.created(`${path}/people`, { text: "a" }),
  ];
  const other = await mongoose.createConnection(mongo, { dbName: app.database.name })
    .asPromise();
  return {
    app,
    held,
    id: _id,
    path,
    other: (await app.created("/boards", { text: "other" }))._id,
    card: `${path}/cards/${card._id}`,
    person: `${path}/people/${person._id}`,
    lock: () => lockIn(other, _id),
    async [Symbol.asyncDispose]() {
      await other.close();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Opens a transaction as a process that was killed leaves it: it has written a board, and a code. */
async function lockIn(connection: Connection, id: string): Promise<ClientSession> {
  const session = await connection.startSession();
  session.startTransaction();
  const collection = connection.collection("boards");
  const _id = new mongoose.Types.ObjectId(id);
  await collection.updateOne({ _id }, { $inc: { __v: 1 } }, { session });
  await collection.insertOne({ code: "taken" }, { session });
  return session;
}

type Boards = Awaited<ReturnType<typeof openBoards>>;

/** The writes that meet the locks, on every way that writes take. */
function writesOf({ app, id, path, card, person }: Boards) {
  const text = "b";
  return [
    () => app.patch(path, { text }),
    () => app.patch(`/hooked/${id}`, { text }),
    () => app.put(path, { text }),
    () => app.put(`/hooked/${id}`, { text }),
    () => app.post("/boards", { code: "taken" }),
    () => app.post("/boards", [{ code: "taken" }]),
    () => app.post("/hooked", { code: "taken" }),
    () => app.post(`${path}/cards`, { text }),
    () => app.patch(card, { text }),
    () => app.delete(card),
    () => app.post(`${path}/people`, { text }),
    () => app.delete(person),
    () => app.delete(`/hooked/${id}`),
    () => app.delete(path),
  ];
}

type Refused = Reply<ErrorBody & { readonly reason?: string }>;

test("writes of what a transaction has locked are a 503 that says so", async () => {
  await using boards = await openBoards({ maxTimeMS: 2000 });
  const session = await boards.lock();
  const replies = await Promise.all(writesOf(boards).map((send) => send() as Promise<Refused>));
  for (const [index, { status, body, headers }] of replies.entries()) {
    const told = [status, body.code, body.reason, Number(headers.get("retry-after")) > 0];
    assertEquals(told, [503, "UNAVAILABLE", "locked", true], `${index}: ${body.message}`);
    assert(body.message.includes("locked"), body.message);
  }
  await session.abortTransaction();
  await session.endSession();
});

test("writes that wait for a lock hold no connection, and go on when it is gone", async () => {
  await using boards = await openBoards({ maxPoolSize: 2 });
  const { app, path, card, person, other } = boards;
  const session = await boards.lock();
  let answered = 0;
  const note = <T extends { status: number }>(reply: T) => (answered++, reply.status);
  const texts = ["b", "c"];
  const waiting = [
    ...texts.map((text) => app.patch(path, { text })),
    ...texts.map((text) => app.patch(card, { text })),
    ...texts.map((text) => app.post(`${path}/cards`, { text })),
    ...texts.map((text) => app.post(`${path}/people`, { text })),
    app.patch(person, { text: "b" }),
  ].map((reply) => (reply as Promise<{ status: number }>).then(note));
  await until(() => boards.held.size === 2);
  // Each of the others takes a connection for half a second at most.
  const read = await app.get<EntityBody>(`/boards/${other}`);
  const before = answered;
  await session.abortTransaction();
  await session.endSession();
  assertEquals([read.status, before], [200, 0]);
  const statuses = await Promise.all(waiting);
  assertEquals([...new Set(statuses)].toSorted(), [200, 201], `${statuses}`);
});
