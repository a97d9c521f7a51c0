import { assertEquals, assertNotMatch } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountLive, openLive } from "./live.ts";
import { asQuery } from "../../support/support.ts";
import { until } from "../../support/until.ts";

@rest({ route: "/authors", methods: [one(), create()] })
class Author extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/notes",
  methods: [
    all<Note>({
      live: true,
      sort: ["level"],
      select: ["text"],
      populate: { author: true },
      search: ["text"],
    }),
    create(),
    update(),
    remove(),
    removeAll(),
  ],
})
@rest({
  route: "/pages",
  methods: [all<Note>({ live: true, formats: ["ndjson"], page: { max: 3 }, sort: ["level"] })],
})
@rest({
  route: "/hooked",
  methods: [all<Note>({
    live: true,
    postFetch: (_req, note) => note.level === 13 ? null : note,
    preSend: (_req, note) => Object.assign(note, { text: `*${note.text}*` }),
  })],
})
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  level?: number;
  @prop({ hidden: true })
  secret?: string;
  @prop({ ref: () => Author })
  author?: Ref<Author>;
}

const MODELS = [Note, Author];

test("a live list comes first, and then what changes in it", async () => {
  await using app = await mountLive(MODELS);
  const first = await app.created("/notes", { text: "first", level: 1 });
  await using live = await openLive(`${app.url}/notes`);
  await live.ready();
  assertEquals(live.answer.status, 200);
  assertEquals(live.answer.headers.get("content-type"), "text/event-stream");
  assertEquals(live.answer.headers.get("cache-control"), "no-store");
  assertEquals(live.answer.headers.get("x-accel-buffering"), "no");
  assertEquals(live.answer.headers.get("vary"), "Accept");
  assertEquals(live.taken(), "put ready");
  const second = await app.created("/notes", { text: "second" });
  await live.came(1);
  await app.updated(`/notes/${first._id}`, { text: "changed" });
  await live.came(2);
  assertEquals(live.items, [{ ...first, text: "changed", __v: 1 }, second]);
  assertEquals(live.text, (await app.get("/notes")).text);
  await app.delete(`/notes/${first._id}`);
  await live.came(3);
  assertEquals(live.taken(), "put put drop");
  assertEquals(live.items, [second]);
});

test("a live list that is asked for as JSON is JSON", async () => {
  await using app = await mountLive(MODELS);
  for (const accept of ["application/json", "*/*", "text/event-stream;q=0, */*"]) {
    const { headers, body } = await app.get("/notes", { headers: { accept } });
    assertEquals(body, []);
    assertEquals(headers.get("vary"), "Accept");
  }
  assertEquals((await app.get("/pages")).headers.get("vary"), "Accept");
});

test("a live list has what q and search select", async () => {
  await using app = await mountLive(MODELS);
  const note = await app.created("/notes", { level: 1, text: "some words" });
  await using live = await openLive(
    `${app.url}/notes${asQuery({ level: { $gte: 2 } })}&search=words`,
  );
  await live.ready();
  assertEquals(live.taken(), "ready");
  await app.updated(`/notes/${note._id}`, { level: 2 });
  await live.came(1);
  await app.updated(`/notes/${note._id}`, { text: "others" });
  await live.came(2);
  assertEquals(live.taken(), "put drop");
});

test("a change that the list does not show is no event", async () => {
  await using app = await mountLive(MODELS);
  const note = await app.created("/notes", { text: "a" });
  await using live = await openLive(`${app.url}/notes?select=text`);
  await live.ready();
  live.taken();
  await app.updated(`/notes/${note._id}`, { level: 7 });
  await getModel(Note).collection.updateMany({}, { $set: { secret: "hidden" } });
  await app.updated(`/notes/${note._id}`, { text: "b" });
  await live.came(1);
  assertEquals(live.items, [{ _id: note._id, text: "b" }]);
  assertEquals(live.taken(), "put");
  assertNotMatch(live.wire, /hidden/);
});

test("what many statements change at once is told, whoever sends them", async () => {
  await using app = await mountLive(MODELS);
  await using live = await openLive(`${app.url}/notes`);
  await live.ready();
  const { collection } = getModel(Note);
  await collection.insertMany(Array.from({ length: 3000 }, (_, level) => ({ level })));
  await until(() => live.items.length === 3000);
  await collection.updateMany({ level: { $lt: 1000 } }, { $inc: { level: -5000 } });
  await until(() => live.items.filter(({ level }) => Number(level) < 0).length === 1000);
  await app.delete("/notes");
  await until(() => live.items.length === 0);
});

test("a live list in an order tells what each entity follows", async () => {
  await using app = await mountLive(MODELS);
  const a = await app.created("/notes", { text: "a", level: 1 });
  const b = await app.created("/notes", { text: "b", level: 2 });
  await using live = await openLive(`${app.url}/notes?sort=-level`);
  await live.ready();
  assertEquals(live.events.map(({ data }) => JSON.parse(data).after), [null, b._id, undefined]);
  live.taken();
  await app.updated(`/notes/${a._id}`, { level: 3 });
  await live.came(1);
  assertEquals(live.events.map(({ data }) => JSON.parse(data).after), [null]);
  const c = await app.created("/notes", { text: "c", level: 0 });
  await live.came(2);
  assertEquals(live.taken(), "put put");
  assertEquals(live.items.map(({ _id }) => _id), [a._id, b._id, c._id]);
  assertEquals(live.text, (await app.get("/notes?sort=-level")).text);
});

test("a live page is a window: what falls out is dropped, what comes in is put", async () => {
  await using app = await mountLive(MODELS);
  for (const level of [1, 2, 3, 4]) await app.created("/notes", { level });
  await using live = await openLive(`${app.url}/pages?sort=level`);
  await live.ready();
  const levels = () => live.items.map(({ level }) => level);
  assertEquals(levels(), [1, 2, 3]);
  live.taken();
  const zero = await app.created("/notes", { level: 0 });
  await live.came(2);
  assertEquals(live.taken(), "drop put");
  assertEquals(levels(), [0, 1, 2]);
  await app.delete(`/notes/${zero._id}`);
  await live.came(2);
  assertEquals(levels(), [1, 2, 3]);
  assertEquals(live.text, (await app.get("/pages?sort=level")).text);
});

test("hooks see each entity that a live list shows", async () => {
  await using app = await mountLive(MODELS);
  const note = await app.created("/notes", { text: "a", level: 1 });
  await using live = await openLive(`${app.url}/hooked`);
  await live.ready();
  assertEquals(live.items.map(({ text }) => text), ["*a*"]);
  await app.updated(`/notes/${note._id}`, { text: "b" });
  await live.came(3);
  assertEquals(live.items.map(({ text }) => text), ["*b*"]);
  await app.updated(`/notes/${note._id}`, { level: 13 });
  await live.came(4);
  assertEquals(live.taken(), "put ready put drop");
  assertEquals(live.text, (await app.get("/hooked")).text);
});

test("a live list shows entities in the place of identifiers", async () => {
  await using app = await mountLive(MODELS);
  const author = await app.created("/authors", { name: "Ann" });
  await using live = await openLive(`${app.url}/notes?populate=author`);
  await live.ready();
  await app.created("/notes", { author: author._id });
  await live.came(2);
  assertEquals(live.items.map((each) => each.author), [author]);
  assertEquals(live.text, (await app.get("/notes?populate=author")).text);
});

test("a list is live on a connection that reads integers of 64 bits as BigInt", async () => {
  await using app = await mountLive([Note]);
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { useBigInt64: true, monitorCommands: true });
  let opened = 0;
  mongoose.connection.getClient().on("commandStarted", ({ command }) => {
    if ("$changeStream" in (command.pipeline?.[0] ?? {})) opened++;
  });
  await using live = await openLive(`${app.url}/notes`);
  await live.ready();
  for (const count of [2, 3, 4]) {
    await app.created("/notes", { text: "a" });
    await live.came(count);
  }
  assertEquals([live.taken(), opened], ["ready put put put", 1]);
});
