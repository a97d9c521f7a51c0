import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { create, FrameworkModel, prop, rest } from "../../mod.ts";
import { longTest } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { openTunnel } from "../support/tunnel.ts";
import { until } from "../support/until.ts";
import { openNotes } from "./failing_notes.ts";

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
  InterruptedDueToOverload: 473,
  "of MongoDB 9": 509,
  Interrupted: 11601,
};

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
