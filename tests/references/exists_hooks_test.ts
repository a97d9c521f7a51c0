import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { create, FrameworkModel, getModel, one, prop, type Ref, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount, NOBODY } from "../support/support.ts";

class Writer extends FrameworkModel {
  @prop()
  name?: string;
}

async function writer(): Promise<string> {
  return String((await getModel(Writer).create({ name: "w" }))._id);
}

test("hooks run only for what is there, and may set what is not", async () => {
  let saved = 0;
  const preSave = <E extends object>(_req: unknown, entity: E): E => {
    saved++;
    return Object.assign(entity, { editor: NOBODY });
  };
  @rest({ route: "/texts", methods: [create({ preSave }), update({ preSave })] })
  class Text extends FrameworkModel {
    @prop({ ref: Writer, exists: true })
    writer?: Ref<Writer>;
    @prop({ ref: Writer, exists: true, readonly: true })
    editor?: Ref<Writer>;
    @prop({ ref: Writer, exists: true, default: NOBODY })
    reader?: Ref<Writer>;
  }
  await using app = await mount([Text]);
  assertEquals((await app.post("/texts", { writer: NOBODY })).status, 400);
  assertEquals(saved, 0);
  const { _id, ...text } = await app.created("/texts", { writer: await writer(), editor: "x" });
  assertEquals([text.editor, text.reader, saved], [NOBODY, NOBODY, 1]);
  assertEquals((await app.patch(`/texts/${_id}`, { writer: NOBODY })).status, 400);
  await app.updated(`/texts/${_id}`, {});
  assertEquals(saved, 2);
});

test("entities of another database are checked against the connection of the request", async () => {
  const rows = new Map<string, object>();
  const persist = (_req: unknown, entity: object) => {
    rows.set("1", { ...entity, _id: "1" });
    return entity;
  };
  const fetch = () => rows.get("1") ?? {};
  @rest({ route: "/rows", methods: [create({ fetch, persist }), update({ fetch, persist })] })
  class Row extends FrameworkModel {
    @prop({ ref: Writer, exists: true })
    writer?: Ref<Writer>;
  }
  await using app = await mount([Row]);
  for (const write of [app.post, app.patch]) {
    const path = write === app.post ? "/rows" : "/rows/1";
    const { status, body } = await write<ErrorBody>(path, { writer: NOBODY });
    assertEquals([status, body.errors?.writer?.kind, rows.size], [400, "exists", 0]);
  }
  const id = await writer();
  await app.created("/rows", { writer: id });
  await app.updated("/rows/1", { writer: id });
});

test("a model of the host's own is asked by its name; one that is nowhere is a 500", async () => {
  const own = `Host${crypto.randomUUID().slice(0, 8)}`;
  @rest({ route: "/unused", methods: [one()], scope: () => ({ name: "in" }) })
  class UnusedWriter extends Writer {}
  @rest({ route: "/named", methods: [one(), create()] })
  class Named extends FrameworkModel {
    @prop({ type: Number, ref: own, exists: true })
    own?: number;
    @prop({ ref: "Nowhere", exists: true })
    other?: Ref<Writer>;
    @prop({ ref: "UnusedWriter", exists: true })
    unused?: Ref<Writer>;
  }
  await using app = await mount([Named], { onError: () => undefined });
  using log = stub(console, "error");
  const host = mongoose.model(own, new mongoose.Schema({ _id: Number }));
  await host.create({ _id: 7 });
  await app.created("/named", { own: 7 });
  const { body } = await app.post<ErrorBody>("/named", { own: 8 });
  assertEquals(body.errors?.own?.kind, "exists");
  assertEquals((await app.post("/named", { unused: NOBODY })).status, 400);
  const [inside, outside] = await getModel(UnusedWriter).create([{ name: "in" }, { name: "out" }]);
  await app.created("/named", { unused: inside?._id });
  assertEquals((await app.post("/named", { unused: outside?._id })).status, 400);
  assertEquals((await app.post("/named", { other: NOBODY })).status, 500);
  assertEquals(String(log.calls[0]?.args[0]).includes(`Cannot follow "other"`), true);
  mongoose.deleteModel(own);
});
