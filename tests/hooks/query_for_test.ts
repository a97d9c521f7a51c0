import { assertEquals, assertRejects } from "@std/assert";
import mongoose from "mongoose";
// @ts-types="express-types"
import express from "express";
import type { GuardRequest, ModelClass } from "../../mod.ts";
import type { QueryForOptions } from "../../src/host/query_for.ts";
import {
  all,
  and,
  Framework,
  FrameworkModel,
  getModel,
  prop,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { client, type ErrorBody } from "../support/client.ts";
import { openDatabase } from "../harness/database.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

@rest({
  route: "/tasks",
  methods: [update()],
  scope: async (req) => {
    const owner = await Promise.resolve(req.headers["x-user"]);
    if (owner === undefined) throw new RestError(401, "Who are you?");
    return { owner, secret: { $ne: "x" } };
  },
  main: true,
})
@rest({ route: "/young", methods: [update()], scope: () => ({ rank: { $lt: 3 } }) })
class Task extends FrameworkModel {
  @prop({ required: true })
  owner!: string;

  @prop({ type: Number })
  rank?: number;

  @prop({ hidden: true })
  secret?: string;

  @prop({ default: "open" })
  state!: string;
}

class Bare extends FrameworkModel {}

/** A list whose hook selects from other models. */
@rest({
  route: "/own",
  methods: [all({
    preFetch: async (req) => {
      req.framework.filter = { owner: "ada" };
      await Promise.all([Framework.queryFor(req, Task), Framework.queryFor(req, Task)]);
      return true;
    },
  })],
})
class Own extends FrameworkModel {
  @prop()
  owner?: string;
}

/** Serves one route that archives what is selected. */
async function open(options: QueryForOptions = {}, target: ModelClass = Task) {
  const database = await openDatabase();
  const app = express();
  app.use(express.json());
  app.post("/archive", async (req, res) => {
    const { filter, model } = await Framework.queryFor(req, target, options);
    const { modifiedCount } = await model.updateMany(filter, { $set: { state: "archived" } });
    res.json({ archived: modifiedCount });
  });
  app.use(Framework.errors());
  const served = await serve(app);
  await database.connection.collection("tasks").insertMany([
    ...[1, 2, 3].map((rank) => ({ owner: "ada", rank, state: "open" })),
    { owner: "ada", rank: 1, state: "open", secret: "x" },
    { owner: "bob", rank: 1, state: "open" },
  ]);
  const close = async () => {
    await served.stop();
    await database[Symbol.asyncDispose]();
  };
  return { ...client(served, { "x-user": "ada" }), database, [Symbol.asyncDispose]: close };
}

const q = (filter: object) => `q=${encodeURIComponent(JSON.stringify(filter))}`;

test("queryFor() joins q with the scope of the main @rest of a class", async () => {
  await using api = await open();
  assertEquals((await api.post<unknown>(`/archive?${q({ rank: { $gte: 2 } })}`)).body, {
    archived: 2,
  });
  assertEquals((await api.post<unknown>("/archive")).body, { archived: 1 });
});

test("queryFor() asks for a route where none of several @rest is main", async () => {
  @rest({ route: "/here", methods: [update()], scope: () => ({ rank: 1 }) })
  @rest({ route: "/there", methods: [update()] })
  class Place extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using _database = await openDatabase();
  await getModel(Place).create([{ rank: 1 }, { rank: 2 }]);
  const req = { url: "/", headers: {} } as never;
  await assertRejects(
    () => Framework.queryFor(req, Place),
    TypeError,
    'Cannot query "Place": it has several @rest with different "scope". Call Framework.queryFor(req, Place, ' +
      '{ route: "/here" } or { route: "/there" }), or set main: true on one of them',
  );
  const { filter, model } = await Framework.queryFor(req, Place, { route: "/here" });
  assertEquals(filter.rank, 1);
  assertEquals((await model.find(filter)).map(({ rank }) => rank), [1]);
  const { filter: none } = await Framework.queryFor(req, Place, { route: "/there" });
  assertEquals(Object.keys(none), []);
});

test("queryFor() takes the scope of one route alone", async () => {
  await using api = await open({ route: "/young" });
  assertEquals((await api.post<unknown>(`/archive?${q({ owner: "bob" })}`)).body, { archived: 1 });
});

test("queryFor() casts and guards q, and Framework.errors() answers", async () => {
  await using api = await open({ route: "/tasks", limits: { query: { maxList: 2 } } });
  const refused = [
    `/archive?${q({ secret: "x" })}`,
    `/archive?${q({ $where: "1" })}`,
    `/archive?${q({ rank: { $in: [1, 2, 3] } })}`,
    `/archive?${q({})}&${q({})}`,
  ];
  for (const path of refused) assertEquals((await api.post<unknown>(path)).status, 400);
  const casts = `/archive?${q({ rank: "2", state: { $not: { $regex: "^arch" } } })}`;
  assertEquals((await api.post<unknown>(casts)).body, { archived: 1 });
});

test("queryFor() gives what the scope throws", async () => {
  await using api = await open({ route: "/tasks" });
  const { status, body } = await client(api.url).post<ErrorBody>("/archive");
  assertEquals([status, body.code], [401, "UNAUTHORIZED"]);
});

test("queryFor() binds its conditions where the host sanitizes filters", async () => {
  mongoose.set("sanitizeFilter", true);
  try {
    await using api = await open();
    assertEquals((await api.post<unknown>(`/archive?${q({ rank: { $gt: 0 } })}`)).body, {
      archived: 3,
    });
  } finally {
    mongoose.set("sanitizeFilter", false);
  }
});

test("queryFor() refuses a class without such an @rest", async () => {
  const req = { url: "/", headers: {} } as never;
  await assertRejects(
    () => Framework.queryFor(req, Bare),
    TypeError,
    'Cannot query "Bare": it has no @rest',
  );
  await assertRejects(
    () => Framework.queryFor(req, Task, { route: "/none" }),
    TypeError,
    'Cannot query "Task": it has no @rest with route "/none"',
  );
});

test("queryFor() gives the model on the connection of the request", async () => {
  await using database = await openDatabase();
  const other = database.connection.useDb(`${database.connection.name}_other`);
  @rest({ route: "/notes", methods: [update()], getConnection: () => other })
  class Note extends FrameworkModel {}
  const { model } = await Framework.queryFor({ url: "/", headers: {} } as never, Note);
  assertEquals(model.db, other);
});

test("queryFor() in a hook leaves what the hook has set for its own request", async () => {
  await using app = await mount([Own]);
  await getModel(Own).create([{ owner: "ada" }, { owner: "bob" }]);
  const owned = await app.read<Own[]>("/own", { headers: { "x-user": "ada" } });
  assertEquals(owned.map(({ owner }) => owner), ["ada"]);
});

test("queryFor() asks for a route where the connection depends on it", async () => {
  await using database = await openDatabase();
  const other = database.connection.useDb(`${database.connection.name}_other`);
  @rest({ route: "/own-notes", methods: [update()], getConnection: () => other })
  @rest({ route: "/all-notes", methods: [update()] })
  class Page extends FrameworkModel {}
  const req = { url: "/", headers: {} } as never;
  await assertRejects(
    () => Framework.queryFor(req, Page),
    TypeError,
    'Cannot query "Page": it has several @rest with different "getConnection". Call Framework.queryFor(',
  );
  const { model } = await Framework.queryFor(req, Page, { route: "/own-notes" });
  assertEquals(model.db, other);
  const { model: shared } = await Framework.queryFor(req, Page, { route: "/all-notes" });
  assertEquals(shared.db, mongoose.connection);
});

test("queryFor() with { q: false } selects by the scope alone", async () => {
  await using api = await open({ route: "/tasks", q: false });
  const bad = "q=x&q=y";
  assertEquals((await api.post<unknown>(`/archive?${bad}`)).body, { archived: 3 });
  const { status } = await client(api.url).post<ErrorBody>("/archive?q={}");
  assertEquals(status, 401, "the scope binds");
});

@rest({ route: "/drafts", methods: [update()] })
class Draft extends FrameworkModel {
  @prop({ hidden: (req: GuardRequest) => req.headers["x-user"] !== "ada" })
  note?: string;
}

test("queryFor() selects from two models, of which one takes q", async () => {
  await using _api = await open();
  await getModel(Draft).create([{ note: "a" }, {}]);
  const url = `/?${q({ rank: { $gte: 2 } })}`;
  const req = { url, headers: { "x-user": "bob" } } as never;
  await assertRejects(() => Framework.queryFor(req, Draft), RestError, '"rank" is unknown');
  const { filter, model } = await Framework.queryFor(req, Draft, { q: false });
  assertEquals(await model.countDocuments(filter), 2);
  const { filter: tasks, model: task } = await Framework.queryFor(
    { url, headers: { "x-user": "ada" } } as never,
    Task,
  );
  assertEquals(await task.countDocuments(tasks), 2);
});

test("queryFor() refuses options that it does not have, and what is no option of q", async () => {
  await assertRejects(
    () => Framework.queryFor({ url: "/" } as never, Task, { query: {} } as object),
    TypeError,
    'there is no option "query"',
  );
  await assertRejects(
    () => Framework.queryFor({ url: "/" } as never, Task, { q: "no" as never }),
    TypeError,
    '"q" is not a boolean',
  );
});

/** A guard of a list, and of a route of the application. */
function isSignedIn(req: GuardRequest): boolean {
  if (req.headers["x-user"] === undefined) throw new RestError(401, "Who are you?");
  return true;
}

@rest({ route: "/guarded", methods: [all({ preFetch: and(isSignedIn, () => true) })] })
class Guarded extends FrameworkModel {}

test("a guard of hooks guards a route of the application", async () => {
  await using app = await mount([Guarded], {
    prepare: (host) =>
      host.get("/guarded/:id/export", (req, res) => void res.json(isSignedIn(req))),
  });
  for (const path of ["/guarded", "/guarded/1/export"]) {
    assertEquals((await app.get(path)).status, 401, path);
    assertEquals((await app.get(path, { headers: { "x-user": "ada" } })).status, 200, path);
  }
});
