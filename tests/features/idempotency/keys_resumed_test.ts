import { assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  RestError,
} from "../../../mod.ts";
import type { Ref } from "../../../mod.ts";
import { openReplicaSet, openStandalone } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { age, IDEMPOTENCY, keyed, textsAt } from "./keyed.ts";
import { type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";

/** What the hooks and the middleware of the models do next. */
const next:
  & { hooks: number }
  & {
    [step in "save" | "saved" | "send"]?: (() => unknown) | undefined;
  } = { hooks: 0 };

const hooks = {
  async preSave<E extends object>(_req: unknown, entity: E) {
    next.hooks++;
    await next.save?.();
    return entity;
  },
  preSend<E extends object>(_req: unknown, entity: E) {
    next.send?.();
    return entity;
  },
};

const methods = [create({ idempotency: IDEMPOTENCY, ...hooks }), one(), all()];

class Keyed extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ unique: true, sparse: true })
  code?: string;
}

class Card extends Keyed {}

class Person extends Keyed {}

@rest({ route: "/notes", methods })
@rest({ route: "/direct", methods: [create({ idempotency: IDEMPOTENCY }), one(), all()] })
class Note extends Keyed {
  static override configure(schema: Schema): void {
    schema.post("save", () => {
      next.saved?.();
    });
  }
}

@rest({ route: "/plain", methods: [create({ idempotency: IDEMPOTENCY }), one(), all()] })
class Plain extends Keyed {}

@rest({ route: "/boards", methods: [create(), one()] })
class Board extends Keyed {
  @rest({ methods })
  @arrayProp({ items: Card, embedded: true })
  cards?: Card[];
  @rest({ methods })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
}

/** Serves the models from a server whose commands can be made to fail; gives the lists that take keys. */
async function openNotes(open = openReplicaSet) {
  next.hooks = 0;
  for (const step of ["save", "saved", "send"] as const) delete next[step];
  const mongo = await open();
  const options = { mongo: mongo.uri, limits: { timeMS: 6000 }, onError: () => {} };
  const app = await mount([Note, Plain, Board], options);
  const { _id } = await app.created("/boards", { text: "board" });
  return {
    app,
    lists: ["/notes", "/plain", `/boards/${_id}/cards`, `/boards/${_id}/people`],
    board: `/boards/${_id}`,
    /** Breaks the connection of some commands to a collection until it is told otherwise, or delays the next one. */
    async breaking(
      command: string,
      collection: string,
      { blockTimeMS = 0 } = {},
    ): Promise<AsyncDisposable> {
      const admin = mongoose.connection.getClient().db("admin");
      const namespace = `${app.database.name}.${collection}`;
      const fault = blockTimeMS > 0
        ? { blockConnection: true, blockTimeMS }
        : { closeConnection: true };
      const data = { failCommands: [command], namespace, ...fault };
      const mode = blockTimeMS > 0 ? { times: 1 } : "alwaysOn";
      await admin.command({ configureFailPoint: "failCommand", mode, data });
      const end = { configureFailPoint: "failCommand", mode: "off" };
      return { [Symbol.asyncDispose]: async () => void await admin.command(end) };
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await mongo.stop();
    },
  };
}

const BODY = { text: "a" };

/** Asserts that a key is under way, and gives what its repetition creates when the first request counts as lost. */
async function resume(app: Mounted, path: string) {
  const busy = await app.post<ErrorBody>(path, BODY, keyed("k"));
  assertEquals([busy.status, busy.body.code], [409, "CONFLICT"], path);
  assertMatch(busy.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
  await age(app.database);
  return await app.created(path, BODY, keyed("k"));
}

async function reservedIds({ database }: Mounted): Promise<string[]> {
  const records = await database.connection.collection("mongrove_keys").find().toArray();
  return records.flatMap(({ ids }) => ids.map(String));
}

test("a key whose creation failed with a 5xx is resumed with its identifier after 30 s", async () => {
  await using notes = await openNotes();
  const { app, lists } = notes;
  for (const path of lists.filter((path) => path !== "/plain")) {
    await app.database.connection.collection("mongrove_keys").deleteMany({});
    next.save = () => {
      throw new Error("Injected");
    };
    assertEquals((await app.post(path, BODY, keyed("k"))).status, 500);
    delete next.save;
    const [reserved] = await reservedIds(app);
    assertEquals((await app.post(path, BODY, keyed("k"))).status, 409);
    await age(app.database);
    assertEquals((await app.post(path, { text: "b" }, keyed("k"))).status, 422);
    const _id = (await app.created(path, BODY, keyed("k")))._id;
    assertEquals(_id, reserved);
    assertEquals((await app.created(path, BODY, keyed("k")))._id, reserved);
    assertEquals(await textsAt(app, path), ["a"]);
  }
});

test("a key that was resumed and has failed again is resumed at once", async () => {
  await using notes = await openNotes();
  const { app, lists } = notes;
  for (const path of lists.filter((path) => path !== "/plain")) {
    await app.database.connection.collection("mongrove_keys").deleteMany({});
    next.save = () => {
      throw new Error("Injected");
    };
    assertEquals((await app.post(path, BODY, keyed("k"))).status, 500);
    await age(app.database);
    for (let tries = 0; tries < 2; tries++) {
      assertEquals((await app.post(path, BODY, keyed("k"))).status, 500);
    }
    delete next.save;
    const reserved = await reservedIds(app);
    assertEquals([(await app.created(path, BODY, keyed("k")))._id], reserved);
  }
});

/** The collection that the entities of a list are written to. */
function collectionOf(path: string): string {
  return path.startsWith("/boards") ? "boards" : path === "/notes" ? "notes" : "plains";
}

/** The command by which the entities of a list are written. */
function writeOf(path: string): string {
  if (!path.startsWith("/boards")) return "insert";
  return path.endsWith("cards") ? "findAndModify" : "update";
}

test("a key is whole whichever command of its first request breaks", async (t) => {
  await using notes = await openNotes();
  const { app, lists } = notes;
  const keys = "mongrove_keys";
  for (const path of lists) {
    const write = writeOf(path);
    const steps: readonly [command: string, collection: string, status: number][] = [
      ["findAndModify", keys, 503],
      [write, collectionOf(path), 503],
      ["update", keys, path.endsWith("people") ? 503 : 201],
    ];
    for (const [command, collection, status] of steps) {
      await t.step(`${path}: ${command} of ${collection}`, async () => {
        await app.database.connection.collection(keys).deleteMany({});
        const before = await textsAt(app, path);
        {
          await using _fault = await notes.breaking(command, collection);
          assertEquals((await app.post(path, BODY, keyed("k"))).status, status);
        }
        const isClaimed = command !== "findAndModify" || collection !== keys;
        const { _id } = isClaimed
          ? await resume(app, path)
          : await app.created(path, BODY, keyed("k"));
        assertEquals(await reservedIds(app), [_id]);
        assertEquals((await app.created(path, BODY, keyed("k")))._id, _id);
        assertEquals(await textsAt(app, path), [...before, "a"]);
      });
    }
  }
});

test("a refused creation frees its key, or at the latest after 30 s", async () => {
  await using notes = await openNotes();
  const { app, lists } = notes;
  next.save = () => {
    throw new RestError(403, "No");
  };
  for (const path of lists.filter((path) => path !== "/plain")) {
    assertEquals((await app.post(path, BODY, keyed("k"))).status, 403);
    assertEquals(await reservedIds(app), []);
  }
  await using fault = await notes.breaking("delete", "mongrove_keys");
  assertEquals((await app.post("/notes", BODY, keyed("k"))).status, 403);
  await fault[Symbol.asyncDispose]();
  assertEquals((await app.post("/notes", BODY, keyed("k"))).status, 409);
  await age(app.database);
  assertEquals((await app.post("/notes", BODY, keyed("k"))).status, 403);
  assertEquals(await reservedIds(app), []);
  delete next.save;
  for (const body of [{ text: { no: 1 } }, { unknown: 1, text: [] }]) {
    assertEquals((await app.post("/notes", body, keyed("k"))).status, 400);
  }
  await app.created("/notes", { text: "a", code: "1" });
  for (const path of ["/notes", "/direct"]) {
    assertEquals((await app.post(path, { code: "1" }, keyed("k"))).status, 409);
    await app.created(path, { text: "b" }, keyed("k"));
  }
});

test("a creation whose answer failed is replayed at once", async () => {
  await using notes = await openNotes();
  const { app, lists } = notes;
  for (const path of lists.filter((path) => path !== "/plain")) {
    for (const error of [new Error("Injected"), new RestError(403, "No")]) {
      await app.database.connection.collection("mongrove_keys").deleteMany({});
      const before = await textsAt(app, path);
      next.send = () => {
        throw error;
      };
      const status = error instanceof RestError ? 403 : 500;
      assertEquals((await app.post(path, BODY, keyed("k"))).status, status);
      delete next.send;
      await app.created(path, BODY, keyed("k"));
      assertEquals(await textsAt(app, path), [...before, "a"]);
    }
  }
});

test("a creation that middleware refuses when it is stored is not repeated", async () => {
  await using notes = await openNotes();
  const { app } = notes;
  next.saved = () => {
    throw new RestError(418, "Too late");
  };
  assertEquals((await app.post("/notes", BODY, keyed("k"))).status, 418);
  next.saved = undefined;
  await app.created("/notes", BODY, keyed("k"));
  assertEquals(await textsAt(app, "/notes"), ["a"]);
});

test("a request that was slower than 30 s gets what its repetition has created", async (t) => {
  await using notes = await openNotes();
  const { app, lists } = notes;
  for (const path of lists.filter((path) => path !== "/plain")) {
    await t.step(path, async () => {
      await app.database.connection.collection("mongrove_keys").deleteMany({});
      const gate = Promise.withResolvers<void>();
      next.save = () => gate.promise;
      next.hooks = 0;
      const slow = app.post(path, BODY, keyed("k"));
      await until(() => next.hooks === 1);
      delete next.save;
      const { _id } = await resume(app, path);
      gate.resolve();
      const { status, body } = await slow;
      // What is in a list already is a conflict, as any other
      assertEquals([status, body._id], path.endsWith("cards") ? [409, undefined] : [201, _id]);
      assertEquals(await textsAt(app, path), ["a"]);
      assertEquals((await app.created(path, BODY, keyed("k")))._id, _id);
    });
  }
});

test("a request that was slower than 30 s and is refused frees no key of another", async () => {
  await using notes = await openNotes();
  const { app } = notes;
  const gate = Promise.withResolvers<void>();
  next.save = () =>
    gate.promise.then(() => {
      throw new RestError(403, "No");
    });
  const slow = app.post("/notes", BODY, keyed("k"));
  await until(() => next.hooks === 1);
  delete next.save;
  const { _id } = await resume(app, "/notes");
  gate.resolve();
  assertEquals((await slow).status, 403);
  assertEquals((await app.created("/notes", BODY, keyed("k")))._id, _id);
});

test("a request that is refused frees no key that another one has resumed", async () => {
  await using notes = await openNotes();
  const { app } = notes;
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  next.save = () =>
    first.promise.then(() => {
      throw new RestError(403, "No");
    });
  const slow = app.post("/notes", BODY, keyed("k"));
  await until(() => next.hooks === 1);
  await age(app.database);
  next.save = () => second.promise;
  const resumed = app.post("/notes", BODY, keyed("k"));
  await until(() => next.hooks === 2);
  first.resolve();
  assertEquals((await slow).status, 403);
  delete next.save;
  assertEquals((await app.post("/notes", BODY, keyed("k"))).status, 409);
  second.resolve();
  assertEquals((await resumed).status, 201);
  assertEquals(await textsAt(app, "/notes"), ["a"]);
});

test("a reference is linked once by a slow request and the one that has resumed its key", async () => {
  await using notes = await openNotes(openStandalone);
  const { app, board, breaking } = notes;
  const path = `${board}/people`;
  await using _fault = await breaking("update", "boards", { blockTimeMS: 1000 });
  const people = app.database.connection.collection("people");
  const slow = app.post(path, BODY, keyed("k"));
  await until(async () => await people.countDocuments() === 1, { everyMs: 5 });
  await age(app.database);
  const { _id } = await app.created(path, BODY, keyed("k"));
  assertEquals([(await slow).status, (await slow).body._id], [201, _id]);
  const stored = await app.database.connection.collection("boards").findOne();
  assertEquals(stored?.people.map(String), [_id]);
});

test("a reference whose request was lost between two statements is ended by the repetition", async () => {
  await using notes = await openNotes(openStandalone);
  const { app, board } = notes;
  const path = `${board}/people`;
  {
    await using _fault = await notes.breaking("update", "boards");
    assertEquals((await app.post(path, BODY, keyed("k"))).status, 503);
  }
  assertEquals(await textsAt(app, path), []);
  const { _id } = await resume(app, path);
  assertEquals(next.hooks, 1);
  assertEquals(await reservedIds(app), [_id]);
  assertEquals(await textsAt(app, path), ["a"]);
});

@rest({
  route: "/renamed",
  methods: [
    create({
      idempotency: IDEMPOTENCY,
      async preSave(_req, entity) {
        entity._id = new mongoose.Types.ObjectId();
        next.hooks++;
        await next.save?.();
        return entity;
      },
    }),
    one(),
    all(),
  ],
})
class Renamed extends FrameworkModel {
  @prop()
  text?: string;
}

test("a hook may change the identifier", async () => {
  await using app = await mount([Renamed]);
  const first = await app.created("/renamed", BODY, keyed("k"));
  assertEquals(await app.created("/renamed", BODY, keyed("k")), first);
  // As if the process had ended before its last statement
  await app.database.connection.collection("mongrove_keys").updateMany({}, {
    $unset: { isDone: 1 },
  });
  assertEquals((await resume(app, "/renamed"))._id, first._id);
  assertEquals(await textsAt(app, "/renamed"), ["a"]);
});

test("a request that changes the identifier writes nothing when another one has resumed its key", async () => {
  await using app = await mount([Renamed]);
  const gate = Promise.withResolvers<void>();
  next.hooks = 0;
  next.save = () => gate.promise;
  const slow = app.post("/renamed", BODY, keyed("k"));
  await until(() => next.hooks === 1);
  delete next.save;
  await resume(app, "/renamed");
  gate.resolve();
  assertEquals((await slow).status, 409);
  assertEquals(await textsAt(app, "/renamed"), ["a"]);
});

test("a creation whose client has left is not repeated", async () => {
  await using notes = await openNotes();
  const { app } = notes;
  const gate = Promise.withResolvers<void>();
  next.save = () => gate.promise;
  const leave = new AbortController();
  const headers = { "content-type": "application/json", "idempotency-key": "k" };
  const left = fetch(`${app.url}/notes`, {
    ...{ method: "POST", body: JSON.stringify(BODY), headers, signal: leave.signal },
  }).catch(() => "left");
  await until(() => next.hooks === 1);
  leave.abort();
  assertEquals(await left, "left");
  gate.resolve();
  delete next.save;
  await until(async () => (await app.post("/notes", BODY, keyed("k"))).status === 201);
  assertEquals([await textsAt(app, "/notes"), next.hooks], [["a"], 1]);
});

test("keys work without their index, and its failure is logged once until it is built", async () => {
  await using notes = await openNotes();
  const { app } = notes;
  // A build that is under way would fail with the connection that is closed, and be logged.
  await Promise.all([Note, Plain, Board, Card, Person].map((each) => getModel(each).init()));
  using log = stub(console, "warn");
  const logged = () => log.calls.map(({ args }) => String(args[0]));
  const fault = await notes.breaking("createIndexes", "mongrove_keys");
  for (const key of ["a", "b", "a"]) await app.created("/plain", BODY, keyed(key));
  await until(() => logged().length > 0);
  // The build is tried again after one second, and after two.
  for (let seconds = 0; seconds < 4; seconds++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await app.created("/plain", BODY, keyed("a"));
  }
  assertEquals(logged().length, 1, logged().join());
  assertMatch(logged()[0] ?? "", /^Cannot build the index that removes the keys/);
  await fault[Symbol.asyncDispose]();
  await until(async () => {
    await app.created("/plain", BODY, keyed("a"));
    return logged().length > 1;
  }, { everyMs: 200 });
  assertEquals(logged().slice(1), ["The index that removes the keys of clients is built"]);
  assertEquals(await textsAt(app, "/plain"), ["a", "a"]);
});
