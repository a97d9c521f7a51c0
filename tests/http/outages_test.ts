import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { all, arrayProp, create, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import type { ModelClass, Ref } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { SIX } from "../fixtures/operations.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { longTest } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { openTunnel } from "../support/tunnel.ts";
import { until } from "../support/until.ts";

/** Errors of a server that cannot do now what it could do later. */
const CODES: Readonly<Record<string, number>> = {
  HostUnreachable: 6,
  LockTimeout: 24,
  CursorNotFound: 43,
  LockBusy: 46,
  MaxTimeMSExpired: 50,
  WriteConcernTimeout: 64,
  QueryPlanKilled: 175,
  PrimarySteppedDown: 189,
  NetworkInterfaceExceededTimeLimit: 202,
  CursorKilled: 237,
  SnapshotTooOld: 239,
  SnapshotUnavailable: 246,
  NoSuchTransaction: 251,
  ExceededTimeLimit: 262,
  TransactionExceededLifetimeLimitSeconds: 290,
  TemporarilyUnavailable: 365,
  ConnectionError: 384,
  IngressRequestRateLimitExceeded: 462,
  Interrupted: 11601,
};

const HOOKED = [all({ postFetch: pass }), update({ preSave: pass })];

/** Makes a model whose requests send every command, on a connection. */
function buildNotes(connection: Connection): ModelClass {
  class Part extends FrameworkModel {
    @prop()
    text?: string;
  }
  const getConnection = () => connection;
  @rest({ route: "/notes", methods: SIX, getConnection })
  @rest({ route: "/hooked", methods: HOOKED as never[], getConnection })
  class Note extends FrameworkModel {
    @prop()
    text?: string;
    @rest({ methods: [all()] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
    @rest({ methods: [create()] })
    @arrayProp({ items: Part })
    others?: Ref<Part>[];
  }
  return Note;
}

/** The requests that send each command, for one note. */
function callsOf(app: Client, _id: string) {
  const note = `/notes/${_id}`;
  return {
    find: () => app.get<ErrorBody>(note),
    aggregate: () => app.get<ErrorBody>(`${note}/parts`),
    insert: () => app.post<ErrorBody>("/notes", {}),
    update: () => app.patch<ErrorBody>(`/hooked/${_id}`, { text: crypto.randomUUID() }),
    findAndModify: () => app.patch<ErrorBody>(note, { text: crypto.randomUUID() }),
    delete: () => app.delete<ErrorBody>("/notes?q=%7B%22text%22%3A%22none%22%7D"),
    commitTransaction: () => app.post<ErrorBody>(`${note}/others`, {}),
  };
}

/**
 * Serves one note from a server that can be made to fail, and the requests that send each command. It may be asked
 * beforehand whether it has transactions.
 */
async function openNotes({ isAsked = true } = {}) {
  const args = ["--setParameter", "enableTestCommands=1"];
  const mongo = await startMongo({ replicaSet: 1, args });
  const connection = await mongoose.createConnection(mongo.uri, { dbName: "outages" }).asPromise();
  const Note = buildNotes(connection);
  const app = await mount([Note], { maxTimeMS: 2000, onError: () => {} });
  const { _id } = await app.created("/notes", { text: "a" });
  const note = `/notes/${_id}`;
  if (isAsked) await app.created(`${note}/others`, {});
  const { collection } = getModel(Note, connection);
  const list = async () => {
    await collection.insertMany(Array.from({ length: 3000 }, () => ({ text: "b" })));
    return await app.get("/hooked");
  };
  const fail = (mode: object | string, data?: object) =>
    connection.getClient().db("admin").command({
      configureFailPoint: "failCommand",
      mode,
      ...data && { data },
    });
  return {
    calls: callsOf(app, _id),
    fail,
    list,
    count: () => collection.countDocuments(),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await connection.close();
      await mongo.stop();
    },
  };
}

longTest("every command that fails for now is answered 503, then works", async (t) => {
  await using notes = await openNotes();
  const { commitTransaction: _commit, ...calls } = notes.calls;
  for (const [command, call] of Object.entries(calls)) {
    for (const [name, errorCode] of Object.entries(CODES)) {
      await t.step(`${command}: ${name}`, async () => {
        await notes.fail("alwaysOn", { failCommands: [command], errorCode });
        const { status, body, headers } = await call();
        await notes.fail("off");
        assertEquals([status, body.code, headers.has("retry-after")], [503, "UNAVAILABLE", true]);
      });
    }
    assertEquals((await call()).status < 300, true);
  }
});

longTest("a list whose cursor is lost before it is sent is answered 503", async () => {
  await using notes = await openNotes();
  for (const errorCode of [43, 175, 237, 11601]) {
    await notes.fail("alwaysOn", { failCommands: ["getMore"], errorCode });
    const { status } = await notes.list();
    await notes.fail("off");
    assertEquals([errorCode, status], [errorCode, 503]);
  }
  assertEquals((await notes.list()).status, 200);
});

longTest("a commit that fails for now is answered 503, unless the driver repeats it", async (t) => {
  await using notes = await openNotes();
  for (const [name, errorCode] of Object.entries(CODES)) {
    await t.step(name, async () => {
      await notes.fail({ times: 1 }, { failCommands: ["commitTransaction"], errorCode });
      const { status } = await notes.calls.commitTransaction();
      await notes.fail("off");
      assertEquals([201, 503].includes(status), true, `${status}`);
    });
  }
});

longTest(
  "a request that cannot learn whether there are transactions is answered 503, and the next one asks again",
  async (t) => {
    await using notes = await openNotes({ isAsked: false });
    const { commitTransaction: createOther } = notes.calls;
    const failures = Object.entries(CODES).map(([name, errorCode]) =>
      [name, { errorCode }] as const
    );
    const hang = ["hang", { blockConnection: true, blockTimeMS: 6000 }] as const;
    for (const [name, failure] of [...failures, hang]) {
      await t.step(name, async () => {
        // The driver, which watches its server by the same command, may meet the failure first.
        await notes.fail("alwaysOn", { failCommands: ["hello"], ...failure });
        const { status, body } = await createOther();
        await notes.fail("off");
        assertEquals([status, body.code], [503, "UNAVAILABLE"]);
        await until(async () => (await notes.calls.find()).status === 200);
      });
    }
    assertEquals(await notes.count(), 1);
    assertEquals((await createOther()).status, 201);
  },
);

longTest("a write whose write concern fails is answered 503, and may have happened", async (t) => {
  await using notes = await openNotes();
  const { find: _find, aggregate: _aggregate, ...writes } = notes.calls;
  for (const [command, call] of Object.entries(writes)) {
    await t.step(command, async () => {
      const writeConcernError = { code: 100, errmsg: "Not enough data-bearing nodes" };
      await notes.fail("alwaysOn", { failCommands: [command], writeConcernError });
      const { status, body } = await call();
      await notes.fail("off");
      assertEquals([status, body.code], [503, "UNAVAILABLE"]);
    });
  }
  assertEquals(await notes.count(), 2);
});

longTest("a write on a socket that breaks is answered 503", async () => {
  const tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
  const opened: Connection[] = [];
  @rest({ route: "/big", methods: [create()], getConnection: () => opened[0] as Connection })
  class Big extends FrameworkModel {
    @prop()
    text?: string;
  }
  const prepare = (app: Express) => app.use(express.json({ limit: "20mb" }));
  await using app = await mount([Big], { prepare, onError: () => {} });
  const dbName = app.database.name;
  const connection = mongoose.createConnection(tunnel.uri, { dbName });
  connection.on("error", () => {});
  opened.push(await connection.asPromise());
  await app.created("/big", {});
  const sent = tunnel.stall();
  // More than the buffers of a socket hold: the driver waits.
  const reply = app.post<ErrorBody>("/big", { text: "x".repeat(15_000_000) });
  await sent;
  tunnel[Symbol.dispose]();
  assertEquals([(await reply).status, (await reply).body.code], [503, "UNAVAILABLE"]);
  connection.close(true).catch(() => {});
});
