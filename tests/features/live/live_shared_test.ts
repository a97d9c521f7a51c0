import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type Live, mountLive, openLive } from "./live.ts";
import { asQuery } from "../../support/support.ts";
import { until } from "../../support/until.ts";

@rest({
  route: "/cards",
  scope: (req: FrameworkRequest) => ({ board: String(req.headers["x-board"]) }),
  methods: [all<Card>({ live: true, sort: ["text"], select: ["text"] })],
})
@rest({ route: "/hooked", methods: [all<Card>({ live: true, preSend: (_req, card) => card })] })
@rest({
  route: "/judged",
  methods: [all<Card>({
    live: true,
    preFetch: (req) => {
      req.framework.options = { comment: undefined };
      return true;
    },
  })],
})
class Card extends FrameworkModel {
  @prop()
  board?: string;
  @prop()
  text?: string;
}

/** Serves cards, and counts the reads that the database gets. */
async function openCards() {
  const app = await mountLive([Card], { connection: "monitorCommands=true" });
  const reads: string[] = [];
  mongoose.connection.getClient().on("commandStarted", ({ commandName, command }) => {
    if (commandName === "find") reads.push(JSON.stringify(command.filter));
    else if (commandName === "aggregate") reads.push("a stream");
  });
  return { app, reads };
}

const onBoard = (board: string) => ({ "x-board": board });

test("equal subscribers share one read of what has changed", async () => {
  const { app, reads } = await openCards();
  await using _app = app;
  const streams: Live[] = [];
  for (let n = 0; n < 20; n++) streams.push(await openLive(`${app.url}/cards`, onBoard("A")));
  await Promise.all(streams.map((each) => each.ready()));
  assertEquals(reads.filter((each) => each === "a stream").length, 1);
  reads.length = 0;
  const { insertedId } = await getModel(Card).collection.insertOne({ board: "A" });
  await Promise.all(streams.map((each) => until(() => each.items.length === 1)));
  assertEquals(reads, [
    JSON.stringify({ $and: [{ _id: { $in: [insertedId] } }, { board: "A" }] }),
  ]);
  for (const each of streams) await each[Symbol.asyncDispose]();
});

test("subscribers that differ in anything share nothing", async () => {
  const { app, reads } = await openCards();
  await using _app = app;
  const streams = await Promise.all([
    ...["A", "B"].map((board) => openLive(`${app.url}/cards`, onBoard(board))),
    openLive(`${app.url}/cards?select=text`, onBoard("A")),
    openLive(`${app.url}/cards?sort=text`, onBoard("A")),
    openLive(`${app.url}/cards${asQuery({ text: "x" })}`, onBoard("A")),
    openLive(`${app.url}/hooked`),
    openLive(`${app.url}/hooked`),
    openLive(`${app.url}/judged`),
    openLive(`${app.url}/judged`),
  ]);
  await Promise.all(streams.map((each) => each.ready()));
  reads.length = 0;
  await getModel(Card).collection.insertOne({ board: "A" });
  await until(() => reads.length >= streams.length);
  // Long before rights are asked again
  await new Promise((resolve) => setTimeout(resolve, 500));
  assertEquals(reads.length, streams.length);
  assertEquals(streams.map(({ items }) => items.length), [1, 0, 1, 1, 0, 1, 1, 1, 1]);
  for (const each of streams) await each[Symbol.asyncDispose]();
});

test("readers of two databases have a stream each, and see their own", async () => {
  const tenants: Record<string, mongoose.Connection> = {};
  const getConnection = (req: FrameworkRequest) => tenants[String(req.headers["x-board"])] as never;

  @rest({ route: "/items", getConnection, methods: [all<Item>({ live: true })] })
  class Item extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mountLive([Item]);
  for (const name of ["A", "B"]) tenants[name] = mongoose.connection.useDb(`live_${name}`);
  const [a, b] = await Promise.all(
    ["A", "B"].map((name) => openLive(`${app.url}/items`, onBoard(name))),
  ) as [Live, Live];
  await Promise.all([a.ready(), b.ready()]);
  await getModel(Item, tenants.A).collection.insertOne({ text: "of A" });
  await until(() => a.items.length === 1);
  await getModel(Item, tenants.B).collection.insertOne({ text: "of B" });
  await until(() => b.items.length === 1);
  assert(!a.wire.includes("of B") && !b.wire.includes("of A"));
  for (const each of [a, b]) await each[Symbol.asyncDispose]();
  for (const tenant of Object.values(tenants)) await tenant.dropDatabase();
});
