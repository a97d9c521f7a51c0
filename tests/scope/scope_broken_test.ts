import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { type FrameworkRequest, type ModelClass, type QueryObject, RestError } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { callsFor, hooked, type Item } from "../support/hooked.ts";
import { mount } from "../support/support.ts";
import { type Fields, namesIn, type Scope, scoped, store } from "../fixtures/scoped.ts";

/** Runs work, and gives the calls that the default connection has sent to the database meanwhile. */
async function spied(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  mongoose.set("debug", (collection, method) => void sent.push(`${collection}.${method}`));
  try {
    await work();
  } finally {
    mongoose.set("debug", false);
  }
  return sent;
}

/** What is no filter, or would lose a condition in Mongoose. */
const BROKEN: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["true", true],
  ["text", "owner"],
  ["a number", 5],
  ["a list", [{ owner: "me" }]],
  ["an empty list", []],
  ["a date", new Date()],
  ["a map", new Map([["owner", "me"]])],
  ["an identifier", new mongoose.Types.ObjectId()],
  ["a function", () => ({ owner: "me" })],
  ["a promise of undefined", Promise.resolve(undefined)],
  ["a promise of null", Promise.resolve(null)],
  ["an undefined condition", { owner: undefined }],
  ["an undefined condition beside another", { rank: 1, owner: undefined }],
  ["an undefined operand", { owner: { $eq: undefined } }],
  ["an undefined element", { owner: { $in: ["me", undefined] } }],
  ["a hole in a list", { owner: { $in: new Array(1) } }],
  ["an undefined clause", { $or: [{ owner: "me" }, undefined] }],
  ["an undefined condition deep inside", { $and: [{ $or: [{ a: { b: { c: undefined } } }] }] }],
];

/** Calls all six operations, and checks that each one answers 500, tells nothing, and sends nothing. */
async function brokenEverywhere(model: ModelClass): Promise<void> {
  const errors: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => {
    errors.push(error);
    return new RestError(500, { code: "INTERNAL" });
  };
  await using app = await mount([model], { onError });
  const [id] = await store(model, { name: "m", owner: "me" });
  for (const [operation, method, path] of callsFor(String(id))) {
    const body = /P/.test(method) ? { name: "x", owner: "me" } : undefined;
    const sent = await spied(async () => {
      const reply = await app.send<Fields>(method, `${path}`, { body: body });
      assertEquals([operation, reply.status, reply.body], [operation, 500, { code: "INTERNAL" }]);
    });
    assertEquals(sent, []);
  }
  assert(errors.every((error) => error instanceof TypeError) && errors.length === 6);
  assertEquals(await namesIn(model), "m");
}

test("scope answers 500 and touches nothing when it is no filter", async (t) => {
  for (const [name, value] of BROKEN) {
    await t.step(name, () => brokenEverywhere(scoped((() => value) as Scope)));
  }
});

test("filter answers 500 and touches nothing when a hook makes it no filter", async (t) => {
  for (const [name, value] of BROKEN.filter(([, value]) => !(value instanceof Promise))) {
    await t.step(name, async () => {
      const preFetch = (req: FrameworkRequest<Item>) => {
        req.framework.filter = value as QueryObject;
        return true;
      };
      const hooks = { preFetch };
      await brokenEverywhere(
        hooked({
          all: hooks,
          one: hooks,
          create: hooks,
          update: hooks,
          remove: hooks,
          removeAll: hooks,
        }),
      );
    });
  }
});

test("scope answers with its own error when it throws", async (t) => {
  const failing: [string, Scope, number][] = [
    ["a RestError", () => Promise.reject(new RestError(401, "Who are you?")), 401],
    ["a bug", () => {
      throw new TypeError("bug");
    }, 500],
  ];
  for (const [name, scope, expected] of failing) {
    await t.step(name, async () => {
      const model = scoped(scope);
      await using app = await mount([model], { onError: () => new RestError(500, "hushed") });
      const [id] = await store(model, { name: "m" });
      for (const [_operation, method, path] of callsFor(String(id))) {
        const body = /P/.test(method) ? { name: "x" } : undefined;
        assertEquals((await app.send(method, `${path}`, { body: body })).status, expected);
      }
      assertEquals(await namesIn(model), "m");
    });
  }
});
