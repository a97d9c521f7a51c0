// Runs alone: names of models depend on those of other classes.
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import mongoose, { type Connection } from "mongoose";
import { all, Framework, FrameworkModel, getModel, rest } from "../../mod.ts";
import { client } from "../support/client.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";

/** What a connection of another copy looks like. */
const FOREIGN = { readyState: 1, base: { version: "8.9.7" }, models: {} } as unknown as Connection;

const OTHER_COPY =
  /belongs to another copy of Mongoose \(8\.9\.7\).*"mongoose@\^9".*npm ls mongoose/;

// Mongoose itself would wait longer than a request of the tests.
@rest({ route: "/plain", methods: [all()], schemaOptions: { bufferTimeoutMS: 300_000 } })
class Plain extends FrameworkModel {}

@rest({ route: "/foreign", methods: [all()], getConnection: () => FOREIGN })
class Foreign extends FrameworkModel {}

function buildApp(onError?: (error: unknown) => void) {
  const handle = (_req: unknown, error: unknown) => onError?.(error);
  return express().use(Framework.initialize({ models: [Plain, Foreign], onError: handle }));
}

test("Framework tells once, in the log, that nobody opened the default connection", async () => {
  using log = stub(console, "warn");
  await using served = await serve(buildApp());
  const { get } = client(served);
  const replies = await Promise.all([get("/plain"), get("/plain")]);
  assertEquals(replies.map(({ status }) => status), [503, 503]);
  const hints = log.calls.map(({ args }) => String(args[0]));
  assertEquals(hints.length, 1);
  assertMatch(
    hints[0] ?? "",
    /mongoose\.connect\(\) was not called on Mongrove's copy.*another copy/,
  );
});

test("getConnection that gives another copy's connection is a 500 that is explained", async () => {
  using _log = stub(console, "error");
  const errors: unknown[] = [];
  await using served = await serve(buildApp((error) => errors.push(error)));
  const { status, text } = await client(served).get("/foreign");
  assertEquals([status, text.includes("Mongoose")], [500, false]);
  assertMatch(String(errors[0]), OTHER_COPY);
});

test("getModel() refuses what is no connection of its own Mongoose", () => {
  assertThrows(() => getModel(Plain, FOREIGN), TypeError, "another copy of Mongoose (8.9.7)");
  const nothing = {} as Connection;
  assertThrows(() => getModel(Plain, nothing), TypeError, "it is not a Mongoose connection");
  const own = new mongoose.Mongoose().createConnection();
  assertEquals(getModel(Plain, own).modelName, "Plain");
});
