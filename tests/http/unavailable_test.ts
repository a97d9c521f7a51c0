import { once } from "node:events";
import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { ModelClass, QueryObject } from "../../mod.ts";
import type { OperationName } from "../../src/declare/operations/operation.ts";
import type { Client } from "../support/client.ts";
import { SIX } from "../fixtures/operations.ts";
import { longTest, test } from "../harness/testing.ts";
import { type ErrorBody, mount, NOBODY } from "../support/support.ts";
import { openTunnel, reopenTunnel, type Tunnel } from "../support/tunnel.ts";
import { until } from "../support/until.ts";

const CALLS: [OperationName, method: string, path: string][] = [
  ["all", "GET", "/notes"],
  ["one", "GET", `/notes/${NOBODY}`],
  ["create", "POST", "/notes"],
  ["update", "PATCH", `/notes/${NOBODY}`],
  ["remove", "DELETE", `/notes/${NOBODY}`],
  ["removeAll", "DELETE", "/notes"],
];

/** What a test may set on the `@rest` of its model. */
interface NotesOptions {
  readonly getConnection?: () => Connection | Promise<Connection>;
  readonly scope?: () => QueryObject;
}

/** Longer than the harness waits for an answer: with it, Mongoose and the driver answer nothing in time by themselves. */
const TOO_LATE_MS = 300_000;

/** Makes a model with all six operations at `/notes`. */
function buildNotes(options: NotesOptions = {}): ModelClass {
  const schemaOptions = { bufferTimeoutMS: TOO_LATE_MS };
  @rest({ route: "/notes", methods: SIX, ...options, schemaOptions })
  class Note extends FrameworkModel {
    @prop()
    text?: string;
  }
  return Note;
}

/** Sends all six requests at once, and asserts that each is answered 503. */
async function assertUnavailable({ send }: Client, calls = CALLS): Promise<void> {
  const replies = await Promise.all(calls.map(async ([name, method, path]) => {
    const body = method === "POST" || method === "PATCH" ? { body: { text: "b" } } : {};
    const reply = await send<ErrorBody>(method, path, body);
    return [name, reply.status, reply.body?.code, Number(reply.headers.get("retry-after")) > 0];
  }));
  assertEquals(replies, calls.map(([name]) => [name, 503, "UNAVAILABLE", true]));
}

/** Opens a connection to a database of the test's own, through a tunnel. */
async function connect(tunnel: Tunnel, dbName: string): Promise<Connection> {
  const options = { dbName, serverSelectionTimeoutMS: TOO_LATE_MS };
  const connection = mongoose.createConnection(tunnel.uri, options);
  connection.on("error", () => {});
  return await connection.asPromise();
}

/** Closes connections whose server is away. The driver takes its time for that; nobody waits for it. */
function hangUp(connections: Connection[]): void {
  for (const connection of connections) connection.close(true).catch(() => {});
}

longTest("every operation answers 503 when the connection was never opened", async () => {
  const connection = mongoose.createConnection();
  await using app = await mount([buildNotes({ getConnection: () => connection })]);
  await assertUnavailable(app);
  await connection.close();
});

test("every operation answers 503 when the default connection is closed, and works when it is open", async () => {
  await using app = await mount([buildNotes()], { limits: { timeMS: 500 } });
  await mongoose.disconnect();
  await assertUnavailable(app);
  await mongoose.connect(app.database.uri);
  await until(async () => (await app.get("/notes")).status === 200);
});

test("a request waits for a connection that is just being opened", async () => {
  await using app = await mount([buildNotes()]);
  await mongoose.disconnect();
  const reply = app.get("/notes");
  await new Promise((resolve) => setTimeout(resolve, 200));
  await mongoose.connect(app.database.uri);
  assertEquals((await reply).status, 200);
});

longTest(
  "a request that waits is answered when the database is back, however seldom the driver looks",
  async () => {
    const mongo = Deno.env.get("MONGODB_URI") ?? "";
    const tunnel = openTunnel(mongo);
    const options = { dbName: "mongrove_back", heartbeatFrequencyMS: 60_000 };
    const connection = await mongoose.createConnection(tunnel.uri, options).asPromise();
    await using app = await mount([buildNotes({ getConnection: () => connection })]);
    assertEquals((await app.get("/notes")).status, 200);
    tunnel[Symbol.dispose]();
    await until(() => connection.readyState === mongoose.ConnectionStates.disconnected);
    const replies = Promise.all([app.get("/notes"), app.get(`/notes/${NOBODY}`)]);
    // By then the driver has looked for its server in vain.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    using _back = await reopenTunnel(mongo, tunnel);
    assertEquals((await replies).map(({ status }) => status), [200, 404]);
    await connection.close(true);
  },
);

longTest("a request that waits is answered when a database that has hung goes on", async () => {
  using tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
  const options = { dbName: "mongrove_hung", heartbeatFrequencyMS: 500 };
  const connection = await mongoose.createConnection(tunnel.uri, options).asPromise();
  const Note = buildNotes({ getConnection: () => connection });
  await using app = await mount([Note], { limits: { timeMS: 10_000 } });
  assertEquals((await app.get("/notes")).status, 200);
  await once(connection.getClient(), "serverHeartbeatSucceeded");
  const letGo = tunnel.hold();
  // Mongoose takes a connection without heartbeats for lost, and tells nobody when they go on.
  await until(() => connection.readyState === mongoose.ConnectionStates.disconnected);
  const replies = Promise.all([app.get("/notes"), app.get(`/notes/${NOBODY}`)]);
  await new Promise((resolve) => setTimeout(resolve, 200));
  letGo();
  assertEquals((await replies).map(({ status }) => status), [200, 404]);
  await connection.close(true);
});

longTest("every operation answers 503 when the database has gone", async () => {
  const tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
  const opened: Connection[] = [];
  const getConnection = () => opened[0] as Connection;
  await using app = await mount([buildNotes({ getConnection })]);
  opened.push(await connect(tunnel, app.database.name));
  assertEquals((await app.get("/notes")).body, []);
  tunnel[Symbol.dispose]();
  await assertUnavailable(app);
  hangUp(opened);
});

longTest("every operation answers 503 when the network swallows what is sent", async () => {
  const tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
  const opened: Connection[] = [];
  const getConnection = () => opened[0] as Connection;
  await using app = await mount([buildNotes({ getConnection })], { limits: { timeMS: 2000 } });
  opened.push(await connect(tunnel, app.database.name));
  assertEquals((await app.get("/notes")).body, []);
  tunnel.block();
  await assertUnavailable(app);
  tunnel[Symbol.dispose]();
  hangUp(opened);
});

test("an update answers 503 when the network is lost between its read and its write", async () => {
  const tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
  const opened: Connection[] = [];
  @rest({
    route: "/notes",
    methods: [update({
      preSave: (_req, note) => {
        tunnel.block();
        return note;
      },
    })],
    getConnection: () => opened[0] as Connection,
  })
  class Lost extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mount([Lost], { limits: { timeMS: 500 } });
  opened.push(await connect(tunnel, app.database.name));
  const { _id } = await getModel(Lost, opened[0]).create({ text: "a" });
  await assertUnavailable(app, [["update", "PATCH", `/notes/${_id}`]]);
  tunnel[Symbol.dispose]();
  hangUp(opened);
});

test("all() and removeAll() answer 503 when maxTimeMS runs out in the database", async () => {
  const Note = buildNotes({ scope: () => ({ $where: "sleep(300) || true" }) });
  await using app = await mount([Note], { limits: { timeMS: 600 } });
  await getModel(Note).collection.insertMany(Array.from({ length: 50 }, () => ({ text: "a" })));
  const lists = CALLS.filter(([name]) => name === "all" || name === "removeAll");
  await assertUnavailable(app, lists);
});

test("one() and update() answer 503 when maxTimeMS runs out in the database", async () => {
  const Note = buildNotes({ scope: () => ({ $where: "sleep(3000) || true" }) });
  await using app = await mount([Note], { limits: { timeMS: 500 } });
  const { _id } = await getModel(Note).create({});
  await assertUnavailable(app, [
    ["one", "GET", `/notes/${_id}`],
    ["update", "PATCH", `/notes/${_id}`],
    ["remove", "DELETE", `/notes/${_id}`],
  ]);
  assertEquals(await getModel(Note).countDocuments(), 1);
});

test("the database itself is told maxTimeMS, 10 s where the host says nothing", async () => {
  const seen = new Set<unknown>();
  const methods = [all(), one(), removeAll()];
  @rest({ route: "/notes", methods })
  class Timed extends FrameworkModel {
    @prop()
    text?: string;
    static override configure(schema: Schema) {
      schema.pre(["find", "findOne", "deleteMany"], function () {
        seen.add(`${this.getOptions().maxTimeMS}`);
      });
    }
  }
  for (
    const [options, expected] of [[{}, "10000"], [{ limits: { timeMS: 700 } }, "700"]] as const
  ) {
    seen.clear();
    await using app = await mount([Timed], options);
    await app.get("/notes");
    await app.get(`/notes/${NOBODY}`);
    await app.delete("/notes");
    assertEquals([...seen], [expected]);
  }
});

longTest("hooks of the database that never answer are given up with 503", async () => {
  const never = () => new Promise<never>(() => {});
  for (const name of ["fetch", "persist"]) {
    @rest({ route: "/notes", methods: [create({ [name]: never })] })
    class Hanging extends FrameworkModel {
      @prop()
      text?: string;
    }
    await using app = await mount([Hanging], { limits: { timeMS: 200 } });
    await assertUnavailable(app, [["create", "POST", "/notes"]]);
  }
});

test("getConnection that never answers is given up with 503", async () => {
  const getConnection = () => new Promise<never>(() => {});
  await using app = await mount([buildNotes({ getConnection })], { limits: { timeMS: 200 } });
  await assertUnavailable(app);
});

test("getConnection that fails to connect answers 503", async () => {
  const getConnection = () =>
    mongoose.createConnection("mongodb://127.0.0.1:1/", { serverSelectionTimeoutMS: 100 })
      .asPromise();
  await using app = await mount([buildNotes({ getConnection })]);
  using _error = stub(console, "error");
  await assertUnavailable(app);
});

test("a fetch hook on a connection that Mongoose buffers for is answered 503", async () => {
  const connection = mongoose.createConnection();
  @rest({
    route: "/notes",
    methods: [all({ fetch: () => getModel(Buffered, connection).find() })],
    schemaOptions: { bufferTimeoutMS: 300 },
  })
  class Buffered extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mount([Buffered]);
  using _error = stub(console, "error");
  await assertUnavailable(app, [["all", "GET", "/notes"]]);
  await connection.close();
});

longTest(
  "onError is told once, not for every request, when the database is not available",
  async () => {
    const connection = mongoose.createConnection();
    const asked: unknown[] = [];
    const onError = (_req: unknown, error: unknown) => void asked.push(error);
    await using app = await mount([buildNotes({ getConnection: () => connection })], {
      onError,
      limits: { timeMS: 100 },
    });
    using error = stub(console, "error");
    await assertUnavailable(app);
    // Other files of the isolate may log as well.
    const logged = error.calls.filter(({ args }) => args[0] === asked[0]);
    assertEquals([asked.length, logged.length], [1, 1]);
    await connection.close();
  },
);

longTest("the log tells, once, that the first attempt to connect has failed", async () => {
  const away = mongoose.createConnection();
  away.on("error", () => {});
  await away.openUri("mongodb://127.0.0.1:1/", { serverSelectionTimeoutMS: 100 }).catch(() => {});
  await using app = await mount([buildNotes({ getConnection: () => away })]);
  using log = stub(console, "warn");
  using _error = stub(console, "error");
  await assertUnavailable(app);
  const lines = log.calls.map(({ args }) => String(args[0])).filter((line) =>
    line.includes("connect")
  );
  assertEquals(lines.length, 1);
  assert(lines[0]?.startsWith("Cannot reach the database: the first attempt to connect failed ("));
  await away.close();
});
