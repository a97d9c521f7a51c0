import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  prop,
  type Ref,
  rest,
  update,
} from "../../../mod.ts";
import type { Schema } from "mongoose";
import { test } from "../../harness/testing.ts";
import { type Live, mountLive, openLive } from "./live.ts";
import { asQuery } from "../../support/support.ts";

@rest({
  route: "/rows",
  methods: [all<Row>({ live: true, sort: ["text"] }), create(), update()],
})
@rest({
  route: "/hooked",
  methods: [all<Row>({ live: true, preSend: (_req, row) => row })],
})
@rest({ route: "/plain", main: true, methods: [all<Row>({ live: true })] })
@rest({
  route: "/populated",
  methods: [all<Row>({ live: true, populate: { next: { always: true } } })],
})
class Row extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ ref: () => Row })
  next?: Ref<Row>;
}

/** Read through Mongoose. */
@rest({ route: "/documents", methods: [all<Found>({ live: true })] })
class Found extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.pre("find", () => {});
  }
  @prop()
  text?: string;
}

for (
  const [path, isResumed] of [["plain", true], ["rows", true], ["hooked", false], [
    "populated",
    false,
  ], ["documents", false]] as const
) {
  test(`a live list ${isResumed ? "has a" : "has no"} place to continue from: /${path}`, async () => {
    await using app = await mountLive([Row, Found]);
    await using live = await openLive(`${app.url}/${path}`);
    await live.ready();
    assertEquals(live.lastId !== "", isResumed);
  });
}

/** Serves rows, and lists them once. */
async function openRows(query = "") {
  const app = await mountLive([Row]);
  const a = await app.created("/rows", { text: "a" });
  const b = await app.created("/rows", { text: "b" });
  const first = await openLive(`${app.url}/rows${query}`);
  await first.ready();
  const { lastId } = first;
  await first[Symbol.asyncDispose]();
  return { app, a, b, lastId };
}

/** Gives the events of a stream up to `ready`. */
async function typesOf(url: string, lastId: string): Promise<string> {
  await using live: Live = await openLive(url, { "last-event-id": lastId });
  await live.ready();
  return live.taken();
}

test("a stream that continues gets nothing where nothing has changed", async () => {
  const { app, lastId } = await openRows();
  await using _app = app;
  assertMatch(lastId, /^[\w.-]+$/);
  assertEquals(await typesOf(`${app.url}/rows`, lastId), "ready");
});

test("a stream that continues gets what has changed in the list since", async () => {
  const { app, a, lastId } = await openRows();
  await using _app = app;
  await app.updated(`/rows/${a._id}`, { text: "changed" });
  await using live = await openLive(`${app.url}/rows`, { "last-event-id": lastId });
  await live.ready();
  assertNotEquals(live.lastId, lastId);
  assertEquals(live.items.map(({ text }) => text), ["changed"]);
  assertEquals(live.taken(), "put ready");
});

test("a stream that continues is told nothing of what its list never had", async () => {
  const query = asQuery({ text: { $in: ["a", "b"] } });
  const { app, a, lastId } = await openRows(query);
  await using _app = app;
  const url = `${app.url}/rows${query}`;
  await app.created("/rows", { text: "other" });
  assertEquals(await typesOf(url, lastId), "ready");
  await app.updated(`/rows/${a._id}`, { text: "c" });
  assertEquals(await typesOf(url, lastId), "drop ready");
});

test("a stream that continues behind others gets what they got, or the whole list", async () => {
  const { app, a, b, lastId } = await openRows();
  await using _app = app;
  await using other = await openLive(`${app.url}/rows`);
  await other.ready();
  await app.updated(`/rows/${a._id}`, { text: "changed" });
  await other.came(4);
  assertEquals(await typesOf(`${app.url}/rows`, lastId), "put ready");
  await getModel(Row).collection.deleteOne({ text: "b" });
  await other.came(5);
  // It may be that the reader never had what is gone
  assertEquals(await typesOf(`${app.url}/rows`, lastId), "resync put ready");
  assertEquals(b.text, "b");
});

test("a stream continues in no other list, and not behind hooks", async () => {
  const { app, a, lastId } = await openRows();
  await using _app = app;
  const whole = "resync put put ready";
  for (const query of [asQuery({ text: { $ne: "c" } }), "?sort=text"]) {
    assertEquals(await typesOf(`${app.url}/rows${query}`, lastId), whole, query);
  }
  for (const id of ["1.x", "nothing", `${lastId}x`]) {
    assertEquals(await typesOf(`${app.url}/rows`, id), whole, id);
  }
  await using hooked = await openLive(`${app.url}/hooked`);
  await hooked.ready();
  assertEquals(hooked.lastId, "");
  assertEquals(a.text, "a");
});

test("a stream in an order continues where nobody was told of a change", async () => {
  const { app, a, lastId } = await openRows("?sort=text");
  await using _app = app;
  const url = `${app.url}/rows?sort=text`;
  await app.updated(`/rows/${a._id}`, { text: "z" });
  assertEquals(await typesOf(url, lastId), "put ready");
  await using other = await openLive(url);
  await other.ready();
  const { lastId: place } = other;
  await app.updated(`/rows/${a._id}`, { text: "a" });
  await other.came(4);
  assertEquals(await typesOf(url, place), "resync put put ready");
});

test("a list that is read again has no place before it is complete", async () => {
  const { app } = await openRows();
  await using _app = app;
  await using live = await openLive(`${app.url}/rows`, { "last-event-id": "1.x" });
  await live.ready();
  assertEquals(live.events.map(({ id }) => id === undefined ? "" : id === "" ? "reset" : "place"), [
    ...["reset", "", "", "place"],
  ]);
});

test("a collection that is dropped empties its lists", async () => {
  const { app } = await openRows();
  await using _app = app;
  await using live = await openLive(`${app.url}/rows`);
  await live.ready();
  await getModel(Row).collection.drop();
  await live.came(5);
  assertEquals(live.taken(), "put put ready drop drop");
  await app.created("/rows", { text: "again" });
  await live.came(1);
  assertEquals(live.taken(), "put");
});
