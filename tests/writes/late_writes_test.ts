import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { longTest, test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, type Item, Part } from "../support/hooked.ts";
import { mount, start, type Started } from "../support/support.ts";
import { openTunnel } from "../support/tunnel.ts";
import { until } from "../support/until.ts";
import { watchCommands } from "../support/both_paths.ts";

/** What is stored before a write that comes too late. */
const STORED = { name: "stored", parts: [{ label: "stored" }] };

/** Names of commands that write. */
const WRITES = new Set(["insert", "update", "delete", "findAndModify"]);

/** Occupies the only connection of a pool for longer than a request waits, 3 s more in a busy process. */
function occupy(connection: Connection): Promise<unknown> {
  const command = { sleep: 1, lock: "none", millis: 6000 };
  return connection.getClient().db("admin").command(command);
}

/** A hook that occupies the connection right before the write. */
function lateHook(occupies: () => void) {
  return {
    preSave<E extends object>(_req: unknown, entity: E): E {
      occupies();
      return entity;
    },
  };
}

/** A hook that occupies it before anything, and needs no documents. */
function earlyHook(occupies: () => void) {
  return {
    preFetch(): boolean {
      occupies();
      return true;
    },
  };
}

/** Serves a model that brings its own connection; no database is opened for it. */
async function serveOnly(model: ModelClass): Promise<Started> {
  const app = express();
  app.use(express.json(), Framework.initialize({ models: [model], limits: { timeMS: 300 } }));
  return await start(app);
}

/** A write that gets no connection in time. */
interface LateWrite {
  /** Names it, and its database. */
  readonly name: string;
  /** Makes a model whose hooks occupy the connection before the write. */
  readonly build: (connection: Connection, occupies: () => void) => ModelClass<Item>;
  /** The method, and what follows the address of the entity's list; `:id` and `:part` are identifiers. */
  readonly call: readonly [method: string, path: string];
}

/** Runs a write that gets no connection in time; gives its status, and what was stored and sent in the end. */
async function writeLate(uri: string, { name, build, call: [method, path] }: LateWrite) {
  const options = { dbName: name.replace(" ", "_"), maxPoolSize: 1, monitorCommands: true };
  const connection = await mongoose.createConnection(uri, options).asPromise();
  const sent: string[] = [];
  let busy: Promise<unknown> = Promise.resolve();
  const Item = build(connection, () => busy = occupy(connection));
  const items = getModel(Item, connection);
  const { _id, parts } = await items.create(STORED);
  await using app = await serveOnly(Item);
  connection.getClient().on("commandStarted", ({ commandName }) => sent.push(commandName));
  const body = method === "DELETE" ? undefined : { name: "late", label: "late" };
  const at = path.replace(":id", String(_id)).replace(":part", String(parts?.[0]?._id));
  const { status } = await app.send(method, at, { body });
  await busy;
  // Connections are given in the order in which they were asked for: what came before has been sent by now.
  const stored = await items.find().lean();
  const names = stored.map((each) => [each.name, each.parts?.map(({ label }) => label)]);
  const writes = sent.filter((each) => WRITES.has(each));
  await connection.close();
  return `${name}: ${status}, ${JSON.stringify(names)}, ${writes}`;
}

/** Runs writes, and asserts that none of them is sent. */
async function assertNotSent(cases: readonly LateWrite[]): Promise<void> {
  const args = ["--setParameter", "enableTestCommands=1"];
  await using mongo = await startMongo({ args });
  const outcomes = await Promise.all(cases.map((each) => writeLate(mongo.uri, each)));
  const expected = cases.map(({ name }) => `${name}: 503, [["stored",["stored"]]], `);
  assertEquals(outcomes, expected);
}

/** The four writes on roots, without entity hooks or with one. */
function onRoots(direct: boolean): LateWrite[] {
  return callsFor(":id").slice(2).map(([operation, method, path]) => ({
    name: `${operation} ${direct ? "direct" : "hooked"}`,
    build: (connection, occupies) => {
      const hooks = direct ? earlyHook(occupies) : lateHook(occupies);
      return hooked(everywhere(hooks), { getConnection: () => connection });
    },
    call: [method, path],
  }));
}

/** Makes a model whose parts are written by sub-routes. */
function buildParts(connection: Connection, occupies: () => void): ModelClass<Item> {
  const hook = lateHook(occupies);
  @rest({ route: "/items", methods: [one()], getConnection: () => connection })
  class Whole extends FrameworkModel {
    @prop()
    name?: string;
    @rest({ methods: [create<Part>(hook), update<Part>(hook), remove<Part>(hook)] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
  }
  return Whole;
}

longTest("a write without documents that gets no connection in time is never sent", async () => {
  await assertNotSent(onRoots(true));
});

longTest("a write with hooks that gets no connection in time is never sent", async () => {
  await assertNotSent(onRoots(false));
});

longTest("a write on a part that gets no connection in time is never sent", async () => {
  const paths = { POST: "", PATCH: "/:part", DELETE: "/:part" };
  await assertNotSent(
    Object.entries(paths).map(([method, path]) => ({
      name: `part ${method}`,
      build: buildParts,
      call: [method, `/items/:id/parts${path}`],
    })),
  );
});

/** Makes a model with a key of the client. */
function buildKeyed(connection: Connection) {
  @rest({
    route: "/notes",
    methods: [create(), one(), update()],
    getConnection: () => connection,
    schemaOptions: { collection: "notes" },
  })
  class Keyed extends FrameworkModel {
    @prop()
    text?: string;
    @prop({ unique: true, sparse: true })
    key?: string;
  }
  return Keyed;
}

/** Serves one collection twice, over a way on which what is sent can be held back, and over another one. */
async function openTwice() {
  const mongo = Deno.env.get("MONGODB_URI") ?? "";
  const tunnel = openTunnel(mongo);
  const dbName = `mongrove_late_${crypto.randomUUID().slice(0, 8)}`;
  const [held, open] = await Promise.all(
    [tunnel.uri, mongo].map((uri) => mongoose.createConnection(uri, { dbName }).asPromise()),
  ) as [Connection, Connection];
  const [Late, Other] = [buildKeyed(held), buildKeyed(open)];
  await Promise.all([getModel(Late, held).init(), getModel(Other, open).init()]);
  const [late, other] = await Promise.all([serveOnly(Late), serveOnly(Other)]);
  return {
    ...{ tunnel, late, other, notes: open.collection("notes") },
    /** Opens connections for the late writes, which need one each. */
    async prepare() {
      const slow = () => held.collection("notes").findOne({ $where: "sleep(200) || true" });
      await Promise.all([slow(), slow(), slow()]);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([late.stop(), other.stop()]);
      await open.dropDatabase();
      await Promise.all([open.close(), held.close(true)]);
      tunnel[Symbol.dispose]();
    },
  };
}

longTest(
  "a write that the database gets after its 503 changes nothing with If-Match or a key of the client",
  async () => {
    await using app = await openTwice();
    const { tunnel, late, other, notes } = app;
    const paths = await Promise.all(["matched", "plain"].map(async (text) => {
      return `/notes/${(await other.created("/notes", { text }))._id}`;
    }));
    const [matched = "", plain = ""] = paths;
    const etag = (await other.get(matched)).headers.get("etag") ?? "";
    const headers = { "If-Match": etag };
    await app.prepare();
    const letGo = tunnel.hold();
    const replies = await Promise.all([
      late.patch(matched, { text: "late" }, { headers }),
      late.post("/notes", { text: "late", key: "a" }),
      late.patch(plain, { text: "late" }),
    ]);
    assertEquals(replies.map(({ status }) => status), [503, 503, 503]);
    assertEquals((await other.patch(matched, { text: "new" }, { headers })).status, 200);
    await other.created("/notes", { text: "new", key: "a" });
    letGo();
    // What has neither is written, which tells that the others have arrived too.
    await until(async () => await notes.findOne({ text: "late" }) !== null);
    const stored = await notes.find().sort({ text: 1, key: 1 }).toArray();
    assertEquals(stored.map(({ text, key }) => [text, key]), [
      ["late", undefined],
      ["new", undefined],
      ["new", "a"],
    ]);
  },
);

longTest("a write whose middleware takes too long is never sent", async () => {
  const passed: Promise<void>[] = [];
  let { promise, resolve } = Promise.withResolvers<void>();
  @rest({ route: "/slow", methods: [create(), update()] })
  class Slow extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.pre("save", () => {
        passed.push(promise);
        return promise;
      });
    }
    @prop()
    name?: string;
  }
  await using app = await mount([Slow], { limits: { timeMS: 3000 } });
  const { collection } = getModel(Slow);
  const { insertedId } = await collection.insertOne({ name: "stored" } as never);
  const sent = await watchCommands(app.database.uri);
  for (const [method, path] of [["PATCH", `/slow/${insertedId}`], ["POST", "/slow"]] as const) {
    assertEquals((await app.send(method, path, { body: { name: "late" } })).status, 503);
    resolve();
    ({ promise, resolve } = Promise.withResolvers<void>());
  }
  assertEquals(passed.length, 2);
  // A command that is sent later has to wait for the ones before it.
  for (let count = 0; count < 20; count++) await collection.countDocuments();
  assertEquals(sent.filter(({ name }) => WRITES.has(name)), []);
  assertEquals((await collection.find().toArray()).map(({ name }) => name), ["stored"]);
});

test("every write tells the database the time that is left, with hooks and without", async () => {
  const preSave = (_req: unknown, entity: object) => entity;
  @rest({ route: "/plain", methods: [create(), update(), remove()] })
  @rest({
    route: "/hooked",
    methods: [create({ preSave }), update({ preSave }), remove({ preSave })],
  })
  class Timed extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Timed]);
  const sent = await watchCommands(app.database.uri);
  for (const route of ["/plain", "/hooked"]) {
    const { _id } = await app.created(route, { name: "a" });
    await app.patch(`${route}/${_id}`, { name: "b" });
    await app.delete(`${route}/${_id}`);
    const times = sent.splice(0).filter(({ name }) => WRITES.has(name))
      .map(({ command }) => Number(command.maxTimeMS));
    assertEquals([route, times.length], [route, 3]);
    assertEquals(times.every((time) => time > 0 && time <= 10_000), true, String(times));
  }
});
