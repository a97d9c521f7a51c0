import { assertEquals, assertMatch } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { mcp } from "@mongrove/mongrove/mcp";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { as, serveTools } from "./mcp.ts";
import { onlyStrict } from "../support/only_strict.ts";

const isKeeper = (req: FrameworkRequest) => req.headers.authorization === "Bearer keeper";

@rest({
  route: "/notes",
  methods: [all(), one(), create(), update(), remove()],
  trash: { see: isKeeper },
  history: true,
})
class Note extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

/** Nobody sees the trash of this class. */
@rest({ route: "/logs", methods: [all(), one()], trash: true })
class Log extends FrameworkModel {
  @prop()
  text?: string;
  /** A field with the name of the parameter. */
  @prop()
  trash?: string;
}

const ACTIONS = ["history", "revert", "restore"];

async function serveNotes() {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Note, Log],
    strict: onlyStrict("bodies", "parameters"),
  });
  app.use(api);
  app.use("/mcp", mcp(api, { expose: [{ model: Note, actions: ACTIONS }, { model: Log }] }));
  const served = await serveTools(app, await sharedReplicaSet());
  await getModel(Note).init();
  const { body: { _id } } = await served.post<{ _id: string }>("/notes", { name: "a" });
  return Object.assign(served, { _id });
}

test("assistants list and restore removed entities for callers who see them", async () => {
  await using app = await serveNotes();
  const { _id } = app;
  await app.delete(`/notes/${_id}`);
  const removed = { model: "Note", trash: "only" };
  const { entities } = await app.call("list", removed, as("keeper"));
  assertEquals((entities as { name: string }[]).map(({ name }) => name), ["a"]);
  const read = await app.call("read", { ...removed, id: _id }, as("keeper"));
  assertEquals((read.entity as { name: string }).name, "a");
  const restore = { model: "Note", action: "restore", id: _id };
  assertEquals((await app.call("list", removed)).status, 400);
  assertEquals((await app.call("action", restore)).status, 404);
  const { answer } = await app.call("action", restore, as("keeper"));
  assertEquals((answer as { name: string }).name, "a");
  assertEquals((await app.call("list", { model: "Note" })).entities, [answer]);
});

test("assistants read the history of an entity page by page, and set the entity back", async () => {
  await using app = await serveNotes();
  const { _id } = app;
  for (const name of ["b", "c"]) await app.patch(`/notes/${_id}`, { name });
  const history = { model: "Note", action: "history", id: _id };
  const { body } = await app.get<object[]>(`/notes/${_id}/history`);
  assertEquals(await app.call("action", history), { answer: body });
  const { answer, next } = await app.call("action", { ...history, limit: 2 });
  assertEquals(answer, body.slice(0, 2));
  const last = await app.call("action", { ...history, limit: 2, ...next as object });
  assertEquals(last, { answer: body.slice(2) });
  const revert = { model: "Note", action: "revert", id: _id, body: { version: 0 } };
  const reverted = await app.call("action", revert);
  assertEquals((reverted.answer as { name: string }).name, "a");
});

test("the parameter of a class option is refused for other models and actions", async () => {
  await using app = await serveNotes();
  const { _id } = app;
  for (
    const [tool, args] of [
      ["list", { model: "Log", trash: "only" }],
      ["read", { model: "Log", id: _id, trash: "only" }],
      ["action", { model: "Note", action: "restore", id: _id, trash: "only" }],
      ["action", { model: "Note", action: "revert", id: _id, body: { version: 0 }, limit: 1 }],
      ["list", { model: "Note", trash: "all" }],
    ] as const
  ) {
    const { status, error } = await app.call(tool, args, as("keeper"));
    assertEquals(status, 400);
    assertMatch((error as { message: string }).message, /^Argument "(trash|limit)" is (not|none)/);
  }
});

test("descriptions show the trash to callers who see it", async () => {
  await using app = await serveNotes();
  interface Told {
    readonly fields: readonly { readonly name: string }[];
    readonly operations: readonly {
      readonly arguments?: readonly { readonly name: string }[];
      readonly refused?: { readonly status: number };
    }[];
  }
  const describe = async (model: string, reader: string) => {
    const told = await app.call("describe", { model }, as(reader)) as object as Told;
    return {
      fields: told.fields.map(({ name }) => name).filter((name) => /^(deleted|trash)/.test(name)),
      trash: told.operations.flatMap((each) => each.arguments ?? [])
        .filter(({ name }) => name === "trash").length,
      refused: told.operations.filter(({ refused }) => refused).length,
    };
  };
  const seen = { fields: ["deletedAt", "deletedBy"], trash: 3, refused: 0 };
  assertEquals(await describe("Note", "keeper"), seen);
  assertEquals(await describe("Note", "ann"), { fields: [], trash: 0, refused: 1 });
  for (const reader of ["keeper", "ann"]) {
    assertEquals(await describe("Log", reader), { fields: ["trash"], trash: 0, refused: 0 });
  }
});

test("describe() shows a trash that somebody sees", () => {
  const routes = Framework.describe({ models: [Note, Log] });
  const told = routes.filter(({ operation }) => operation === "all")
    .map(({ answer, parameters }) => [
      answer.some(({ name }) => name === "deletedAt"),
      parameters.some(({ name }) => name === "trash"),
    ]);
  assertEquals(told, [[true, true], [false, false]]);
});
