import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
  rest,
  update,
} from "../../../mod.ts";
import type { FrameworkRequest, Ref } from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import type { Client, EntityBody, SendOptions } from "../../support/client.ts";
import type { Reply } from "../../harness/request.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

const methods = [create(), one(), update(), remove()];

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

const sent: string[] = [];

const present = {
  preSend<E extends { text?: string }>({ framework }: FrameworkRequest, entity: E) {
    sent.push(`${framework.operation} ${entity.text}`);
    return entity.text === "hidden" ? null : entity;
  },
};

@rest({ route: "/direct", methods })
@rest({ route: "/hooked", methods: [create(present), one(), update(present), remove()] })
@rest({ route: "/documents", methods: [create({ preSave: pass }), one(), update()] })
@rest({ route: "/put", methods: [one(), replace()] })
@rest({ route: "/put/hooked", methods: [one(), replace({ ...present, preSave: pass })] })
class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ type: Number })
  rank?: number;
  @rest({ methods })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods })
  @prop({ type: Part })
  part?: Part;
  @rest({ methods: [...methods, replace()] })
  @arrayProp({ items: Part })
  others?: Ref<Part>[];
  @rest({ methods })
  @prop({ ref: Part })
  other?: Ref<Part>;
}

const preferring = (prefer: string, others = {}): SendOptions => ({
  headers: { prefer, ...others },
});

const MINIMAL = preferring("return=minimal");

/** What tells of an answer without a body. */
function headOf({ status, text, headers }: Reply): unknown[] {
  return [status, text, headers.get("preference-applied"), headers.get("content-type")];
}

const etagOf = ({ headers }: Reply) => headers.get("etag") ?? "";

/** The lists and the single parts of a new entity. */
async function placesOf(app: Client): Promise<string[]> {
  const { _id } = await app.created("/direct", { text: "parent" });
  const parts = ["parts", "part", "others", "other"].map((name) => `/direct/${_id}/${name}`);
  return ["/direct", "/hooked", "/documents", ...parts];
}

test("return=minimal answers writes without a body, with Location and a tag", async (t) => {
  await using app = await mount([Note]);
  for (const place of await placesOf(app)) {
    await t.step(place, async () => {
      const made = await app.post(place, { text: "a" }, MINIMAL);
      assertEquals(headOf(made), [201, "", "return=minimal", null]);
      const path = made.headers.get("location") ?? "";
      assertEquals((await app.read(path)).text, "a");
      const changed = await app.patch(path, { text: "b" }, {
        ...preferring("return=minimal", { "if-match": etagOf(made) }),
      });
      assertEquals(headOf(changed), [204, "", "return=minimal", null]);
      assertEquals(changed.headers.get("location"), null);
      const late = preferring("return=minimal", { "if-match": etagOf(made) });
      const refused = await app.patch<{ code: string }>(path, { text: "c" }, late);
      assertEquals([refused.status, refused.body.code], [412, "PRECONDITION_FAILED"]);
      const again = { headers: { "if-match": etagOf(changed) } };
      assertEquals((await app.updated(path, { text: "d" }, again)).text, "d");
    });
  }
});

test("a minimal answer has the version alone as its tag", async () => {
  await using app = await mount([Note]);
  for (const route of ["/direct", "/documents"]) {
    const made = await app.post(route, { text: "a" }, MINIMAL);
    assertEquals(etagOf(made), `"0"`);
    const changed = await app.patch(made.headers.get("location") ?? "", { text: "b" }, MINIMAL);
    assertEquals(etagOf(changed), `"1"`);
  }
});

test("an update without hooks reads nothing that a minimal answer does not send", async () => {
  await using app = await mount([Note]);
  const { _id } = await app.created("/direct", { text: "a" });
  const commands = await watchCommands(app.database.uri);
  await app.patch(`/direct/${_id}`, { text: "b" }, MINIMAL);
  await app.patch(`/direct/${_id}`, { text: "c" });
  assertEquals(commands.map(({ name, command }) => [name, command.fields]), [
    ["findAndModify", { __v: 1 }],
    ["findAndModify", undefined],
  ]);
});

test("a minimal answer runs the hooks of any other", async () => {
  await using app = await mount([Note]);
  sent.splice(0);
  const made = await app.post("/hooked", { text: "a" }, MINIMAL);
  const path = made.headers.get("location") ?? "";
  await app.patch(path, { text: "b" }, MINIMAL);
  assertEquals(sent, ["create a", "update b"]);
  const hidden = await app.patch(path, { text: "hidden" }, MINIMAL);
  assertEquals([headOf(hidden), etagOf(hidden)], [[204, "", "return=minimal", null], ""]);
  const created = await app.post("/hooked", { text: "hidden" }, MINIMAL);
  assertEquals([headOf(created), etagOf(created)], [[204, "", "return=minimal", null], ""]);
  assert(created.headers.has("location"));
});

test("return=minimal is read among other preferences; of two, the first one counts", async () => {
  await using app = await mount([Note]);
  const cases: Readonly<Record<string, boolean>> = {
    "respond-async, return=minimal; a=b, wait=5": true,
    'RETURN="minimal"': true,
    "handling=lenient,return = minimal": true,
    "max-affected=none, return=minimal": true,
    "return=minimal, return=representation": true,
    "return=representation, return=minimal": false,
    "return=minimalist": false,
    "xreturn=minimal": false,
    "return; minimal": false,
  };
  for (const [prefer, isMinimal] of Object.entries(cases)) {
    const reply = await app.post("/direct", { text: "a" }, preferring(prefer));
    assertEquals([reply.status, reply.text === ""], [201, isMinimal], prefer);
    assertEquals(reply.headers.has("preference-applied"), isMinimal, prefer);
  }
});

test("return=minimal changes no read, no removal and no error", async () => {
  await using app = await mount([Note]);
  const { _id } = await app.created("/direct", { text: "a" });
  const path = `/direct/${_id}`;
  const read = await app.get<EntityBody>(path, MINIMAL);
  const removed = await app.delete(path, MINIMAL);
  const refused = await app.post<{ code: string }>("/direct", {}, MINIMAL);
  assertEquals([read.body.text, removed.status, refused.body.code], ["a", 204, "BAD_DATA"]);
  for (const { headers } of [read, removed, refused]) {
    assertEquals(headers.get("preference-applied"), null);
  }
});

test("return=minimal answers a replacement without a body: 201, then 204", async () => {
  await using app = await mount([Note]);
  const { _id } = await app.created("/direct", { text: "parent" });
  for (const list of ["/put", "/put/hooked", `/direct/${_id}/others`]) {
    const path = `${list}/${new mongoose.Types.ObjectId()}`;
    const send = (text: string, others = {}) =>
      app.send("PUT", path, { ...preferring("return=minimal", others), body: { text } });
    const made = await send("a");
    assertEquals(headOf(made), [201, "", "return=minimal", null]);
    assertEquals([made.headers.get("location"), etagOf(made)], [path, `"0"`]);
    const replaced = await send("b", { "if-match": etagOf(made) });
    assertEquals(headOf(replaced), [204, "", "return=minimal", null]);
    assertEquals([replaced.headers.get("location"), etagOf(replaced)], [null, `"1"`]);
    assertEquals((await send("c", { "if-match": etagOf(made) })).status, 412);
    assertEquals((await app.read(path)).text, "b");
  }
});
