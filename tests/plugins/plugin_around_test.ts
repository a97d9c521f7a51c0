import { assertEquals, assertStringIncludes } from "@std/assert";
import { create, FrameworkModel, prop, type ReadOnly, rest, RestError } from "../../mod.ts";
import type { Plugin } from "../../src/plugin/mod.ts";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { mount } from "../support/support.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery } from "../support/support.ts";
import { Assignee, Task, watching } from "./plugged.ts";

const q = (filter: unknown) => asQuery(filter).slice(1);

/** What each request needs, in their order. */
function neededAt(at: string): [string, string, string[], object?][] {
  const ndjson = { headers: { "content-type": "application/x-ndjson" }, raw: '{"name":"x"}\n' };
  return [
    ["GET", "/tasks", ["tasks:all"]],
    ["HEAD", "/tasks", ["tasks:all"]],
    ["GET", `/tasks?${q({ name: "a" })}`, ["tasks:all"]],
    ["GET", "/tasks?populate=person", ["tasks:all", "people:one"]],
    ["GET", `/tasks?${q({ "person.name": "b" })}`, ["tasks:all", "people:one"]],
    ["GET", "/tasks?trash=only", ["tasks:trash"]],
    ["GET", at, ["tasks:one"]],
    ["PATCH", at, ["tasks:update"], { body: { name: "b" } }],
    ["POST", "/tasks", ["tasks:create"], { body: { name: "b" } }],
    ["POST", "/tasks", ["tasks:create", "tasks:many"], { body: [{ name: "b" }] }],
    ["POST", "/tasks", ["tasks:create", "tasks:many"], ndjson],
    ["POST", `${at}/close`, ["tasks:action.close"]],
    ["GET", `${at}/history`, ["tasks:history"]],
    ["POST", `${at}/revert`, ["tasks:revert"], { body: { version: 0 } }],
    ["POST", `${at}/notes`, ["tasks:one", "tasks/notes:create"], { body: { text: "t" } }],
    ["DELETE", at, ["tasks:remove"]],
    ["GET", `${at}/history?trash=only`, ["tasks:history", "tasks:trash"]],
    ["POST", `${at}/restore`, ["tasks:restore"]],
    ["DELETE", `/tasks?trash=only&${q({ name: "b" })}`, ["tasks:removeAll", "tasks:trash"]],
  ];
}

test("around gets the names of all operations that a request needs", async () => {
  const { plugin, calls } = watching();
  const mongo = await sharedReplicaSet();
  await using app = await mount([Task, Assignee], { mongo, plugins: [plugin] });
  const { _id } = await app.created("/tasks", { name: "a" });
  for (const [method, path, names, options = {}] of neededAt(`/tasks/${_id}`)) {
    calls.length = 0;
    const { status, text } = await app.send(method, path, options);
    const given = calls.map(({ needs }) => needs);
    assertEquals([method, path, given, status < 300], [method, path, [names], true], text);
  }
});

test("around gets the facts of the operation, and nothing of the query", async () => {
  const { plugin, calls } = watching();
  await using app = await mount([Assignee], { plugins: [plugin], actor: () => "ann" });
  const { _id } = await app.created("/people", { name: "Ada" });
  calls.length = 0;
  await app.get(`/people/${_id}?x=1`);
  const facts = Object.entries(calls[0] ?? {})
    .filter(([name, value]) => name !== "req" && typeof value !== "function");
  assertEquals<unknown>(Object.fromEntries(facts), {
    name: "people:one",
    model: "Assignee",
    operation: "one",
    method: "GET",
    path: "/people/:id",
    needs: ["people:one"],
    purpose: "answer",
    actor: "ann",
  });
});

@rest({ route: "/firms", methods: [create()], tenant: "group" })
class Firm extends FrameworkModel {
  @prop({ readonly: true })
  readonly group?: ReadOnly<string>;
}

test("around gets the tenant", async () => {
  const { plugin, calls } = watching();
  await using app = await mount([Firm], { plugins: [plugin], tenant: () => "north" });
  await app.created("/firms", {});
  assertEquals(calls.map(({ tenant }) => tenant), ["north"]);
});

test("around refuses before any entity is read, and hides errors of parameters", async () => {
  const refusing: Plugin = {
    name: "refusing",
    around: ({ name }) => Promise.reject(new RestError(403, `no ${name}`)),
  };
  await using app = await mount([Assignee], {
    plugins: [refusing],
    strict: onlyStrict("parameters"),
  });
  for (const path of ["/people/x", "/people?limit=no", "/people?q={", "/people?unknown=1"]) {
    const { status, text } = await app.get(path);
    assertEquals([path, status], [path, 403], text);
  }
  assertEquals((await app.post("/people", { wrong: {} })).status, 403);
});

test("errors of parameters come after around, as its headers do", async () => {
  const naming: Plugin = {
    name: "naming",
    async around(call, next) {
      call.setHeader("X-Operation", call.name);
      call.setHeader("vary", "X-Plan");
      await next();
    },
  };
  await using app = await mount([Assignee], { plugins: [naming] });
  const wrong = await app.get("/people?limit=no");
  const found = await app.get("/people");
  assertEquals([wrong.status, wrong.headers.get("x-operation")], [400, "people:all"]);
  assertEquals([found.status, found.headers.get("x-operation")], [200, "people:all"]);
  assertEquals(found.headers.get("vary"), "Accept, X-Plan");
});

test("the first plugin is the outermost, and sees the error of the work", async () => {
  const order: string[] = [];
  const logging = (name: string): Plugin => ({
    name,
    async around(_call, next) {
      order.push(`${name} in`);
      await next().catch((error) => {
        order.push(`${name} ${error.status}`);
        throw error;
      });
      order.push(`${name} out`);
    },
  });
  await using app = await mount([Assignee], { plugins: [logging("a"), logging("b")] });
  await app.get("/people");
  assertEquals(order.splice(0), ["a in", "b in", "b out", "a out"]);
  assertEquals((await app.get("/people/0123456789abcdef01234567")).status, 404);
  assertEquals(order, ["a in", "b in", "b 404", "a 404"]);
});

/** What `around` does with `next()`, and the statuses of an entity that is missing and of a list. */
const WAYS: Readonly<Record<string, [NonNullable<Plugin["around"]>, number, number]>> = {
  twice: [
    async (_call, next) => {
      await next();
      await next();
    },
    404,
    500,
  ],
  never: [() => Promise.resolve(), 500, 500],
  swallowing: [async (_call, next) => await next().catch(() => {}), 404, 200],
  waiting: [
    async (_call, next) => {
      const done = next();
      await new Promise((resolve) => setTimeout(resolve, 20));
      await done;
    },
    404,
    200,
  ],
  failing: [() => Promise.reject(new Error("secret")), 500, 500],
};

test("an around that swallows an error, calls next() twice or never answers no success", async () => {
  for (const [name, [around, missing, list]] of Object.entries(WAYS)) {
    const errors: unknown[] = [];
    const onError = (_req: unknown, error: unknown) => void errors.push(error);
    await using app = await mount([Assignee], { plugins: [{ name, around }], onError });
    const found = await app.get("/people/0123456789abcdef01234567");
    assertEquals([name, found.status, (await app.get("/people")).status], [name, missing, list]);
    assertEquals(found.text.includes("secret"), false);
    if (name === "never") assertStringIncludes(String(errors[0]), `The plugin "never"`);
  }
});

test("a batch passes around for each of its requests", async () => {
  const { plugin, calls } = watching();
  const mongo = await sharedReplicaSet();
  const batch = { path: "/batch" };
  await using app = await mount([Task, Assignee], { mongo, plugins: [plugin], batch });
  const requests = [
    { id: "1", method: "POST", path: "/people", body: { name: "Ada" } },
    { id: "2", method: "GET", path: "/tasks" },
  ];
  const { status, text } = await app.post("/batch", { requests });
  assertEquals(status, 200, text);
  assertEquals(calls.map(({ name }) => name), ["people:create", "tasks:all"]);
});
