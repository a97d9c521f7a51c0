import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, prop, remove, removeAll, rest, update } from "../mod.ts";
import { test } from "./harness/testing.ts";
import { mountLive, openLive } from "./live.ts";
import { asQuery } from "./support.ts";
import { until } from "./until.ts";

@rest({
  route: "/notes",
  methods: [all<Note>({ live: true }), create(), update(), remove(), removeAll()],
})
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  level?: number;
}

test("a live list comes first, and then what changes in it", async () => {
  await using app = await mountLive([Note]);
  const first = await app.created("/notes", { text: "first", level: 1 });
  await using live = await openLive(`${app.url}/notes`);
  await live.ready();
  assertEquals(live.answer.status, 200);
  assertEquals(live.answer.headers.get("content-type"), "text/event-stream");
  assertEquals(live.answer.headers.get("cache-control"), "no-store");
  assertEquals(live.answer.headers.get("x-accel-buffering"), "no");
  assertEquals(live.taken(), "put ready");
  const second = await app.created("/notes", { text: "second" });
  await until(() => live.events.length === 1);
  await app.updated(`/notes/${first._id}`, { text: "changed" });
  await until(() => live.events.length === 2);
  assertEquals(live.items, [{ ...first, text: "changed", __v: 1 }, second]);
  await app.delete(`/notes/${first._id}`);
  await until(() => live.events.length === 3);
  assertEquals(live.taken(), "put put drop");
  assertEquals(live.items, [second]);
});

test("a live list holds what q selects", async () => {
  await using app = await mountLive([Note]);
  const note = await app.created("/notes", { level: 1 });
  await using live = await openLive(`${app.url}/notes${asQuery({ level: { $gte: 2 } })}`);
  await live.ready();
  assertEquals(live.taken(), "ready");
  await app.updated(`/notes/${note._id}`, { level: 2 });
  await until(() => live.events.length === 1);
  await app.updated(`/notes/${note._id}`, { level: 0 });
  await until(() => live.events.length === 2);
  assertEquals(live.taken(), "put drop");
});
