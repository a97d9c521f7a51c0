import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { Framework, FrameworkModel, getModel, prop, RestError } from "../../mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, NOBODY, start } from "../support/support.ts";

const INTERNAL = { code: "INTERNAL", message: "Internal error" };

class Account extends FrameworkModel {
  @prop({ unique: true, sparse: true })
  name?: string;
  @prop({ type: Number, min: 10 })
  amount?: number;
  @prop({ hidden: true, enum: ["one"] })
  secret?: string;
  @prop({ select: false, enum: ["one"] })
  quiet?: string;
}

/** Serves a host whose own route fails, with our error form. */
async function failWith(fail: () => unknown) {
  const app = express();
  app.get("/host/:id", async () => {
    await fail();
    throw new Error("did not fail");
  });
  app.use(Framework.errors());
  return await start(app);
}

test("Framework.errors() keeps the status of a host's own errors, and tells what they expose", async () => {
  const cases: [object, number, object][] = [
    [{ status: 502 }, 502, { code: "BAD_GATEWAY", message: "Bad Gateway" }],
    [{ statusCode: 504 }, 504, { code: "GATEWAY_TIMEOUT", message: "Gateway Timeout" }],
    [{ status: 503, expose: true }, 503, { code: "SERVICE_UNAVAILABLE", message: "s3cret" }],
    [{ status: 402 }, 402, { code: "PAYMENT_REQUIRED", message: "s3cret" }],
    [{ status: 402, expose: false }, 402, {
      code: "PAYMENT_REQUIRED",
      message: "Payment Required",
    }],
    [{ status: 200, statusCode: 404 }, 404, { code: "NOT_FOUND", message: "s3cret" }],
  ];
  using log = stub(console, "error");
  for (const [more, status, body] of cases) {
    const error = Object.assign(new Error("s3cret"), more, { headers: { "x-a": 1 } });
    await using api = await failWith(() => Promise.reject(error));
    const reply = await api.get("/host/1?token=s3cret");
    assertEquals([reply.status, reply.body, reply.headers.get("x-a")], [status, body, "1"]);
    if (status < 500 && !("expose" in more)) continue;
    assertEquals(log.calls.at(-1)?.args, [error, { method: "GET", route: "/host/:id" }]);
  }
  assertEquals(log.calls.length, 4);
});

test("Framework.errors() answers 500 in our form for a status that is none", async () => {
  using log = stub(console, "error");
  const wrong = [NaN, 200, 399, 600, 404.5, Infinity, "404", null, {}];
  for (const status of wrong) {
    const error = Object.assign(new Error("s3cret"), { status, statusCode: status });
    await using api = await failWith(() => Promise.reject(error));
    const reply = await api.get("/host/1");
    assertEquals([reply.status, reply.body], [500, INTERNAL]);
  }
  assertEquals(log.calls.length, wrong.length);
});

test("Framework.errors() answers in our form what has no message", async () => {
  using _log = stub(console, "error");
  await using api = await failWith(() => Promise.reject(Symbol("s3cret")));
  const reply = await api.get("/host/1");
  assertEquals([reply.status, reply.body], [500, INTERNAL]);
  for (const message of [undefined, Object.create(null), { text: "s3cret" }]) {
    await using api = await failWith(() => Promise.reject({ status: 404, message }));
    const reply = await api.get("/host/1");
    assertEquals(reply.body, { code: "NOT_FOUND", message: "Not Found" });
  }
});

test("Framework.errors() knows Mongoose's and MongoDB's errors in the host's routes", async () => {
  await using _database = await openDatabase();
  await getModel(Account).init();
  await getModel(Account).create({ name: "a" });
  const gone = async () => {
    const account = await getModel(Account).create({});
    await getModel(Account).deleteMany({ _id: account._id });
    account.name = "b";
    await account.save();
  };
  const cases: [() => unknown, number, string][] = [
    [() => getModel(Account).create({ amount: 1 }), 400, "BAD_DATA"],
    [() => getModel(Account).create({ name: "a" }), 409, "CONFLICT"],
    [() => getModel(Account).findById("x"), 400, "BAD_DATA"],
    [() => getModel(Account).find({ amount: "x" } as never), 400, "BAD_DATA"],
    [gone, 409, "CONFLICT"],
    [() => getModel(Account).findById(NOBODY).orFail(), 404, "NOT_FOUND"],
    [() => getModel(Account).findOneAndDelete({ name: "b" }).orFail(), 404, "NOT_FOUND"],
    [() => getModel(Account).updateOne({ name: "b" }, { amount: 11 }).orFail(), 404, "NOT_FOUND"],
    [() => Promise.reject(new mongoose.mongo.MongoNetworkError("x")), 503, "UNAVAILABLE"],
  ];
  using log = stub(console, "error");
  for (const [fail, status, code] of cases) {
    await using api = await failWith(fail);
    const reply = await api.get<ErrorBody>("/host/1");
    assertEquals([reply.status, reply.body.code], [status, code]);
  }
  assertEquals(log.calls.length, 1);
});

test("Framework.errors() tells no value of a field that is hidden or not selected", async () => {
  await using _database = await openDatabase();
  for (const path of ["secret", "quiet"]) {
    for (const value of ["s3cret", { leak: "s3cret" }]) {
      const fail = () => getModel(Account).create({ [path]: value } as never);
      await using api = await failWith(fail);
      const reply = await api.get<ErrorBody>("/host/1");
      assertEquals([reply.status, Object.keys(reply.body.errors ?? {})], [400, [path]]);
      assertEquals(reply.text.includes("s3cret"), false);
    }
  }
});

test("Framework.errors() keeps a host's RestError, and logs it when it is a 5xx", async () => {
  using log = stub(console, "error");
  for (const status of [418, 502]) {
    await using api = await failWith(() => Promise.reject(new RestError(status, { a: 1 })));
    const reply = await api.get("/host/1");
    assertEquals([reply.status, reply.body], [status, { a: 1 }]);
  }
  assertEquals(log.calls.length, 1);
});
