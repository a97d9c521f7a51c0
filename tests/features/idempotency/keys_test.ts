import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { create, Framework, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import { until } from "../../support/until.ts";
import { requestRaw } from "../../harness/request_raw.ts";
import { test } from "../../harness/testing.ts";
import { age, Board, IDEMPOTENCY, keyed, listsOf, Note, textsAt } from "./keyed.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

test("a repeated key answers what the first request has created", async (t) => {
  await using app = await mount([Note, Board]);
  for (const path of await listsOf(app)) {
    await t.step(path, async () => {
      const before = await textsAt(app, path);
      const first = await app.post(path, { text: "a" }, keyed("k"));
      const second = await app.post(path, { text: "a" }, keyed("k"));
      assertEquals([first.status, second.status], [201, 201]);
      assertEquals(second.body, first.body);
      for (const name of ["location", "etag"]) {
        assertEquals(second.headers.get(name), first.headers.get(name), name);
        assert(first.headers.get(name));
      }
      assertEquals(await textsAt(app, path), [...before, "a"]);
    });
  }
});

test("a key makes a single part once", async () => {
  await using app = await mount([Board]);
  const { _id } = await app.created("/boards", { text: "board" });
  for (const path of [`/boards/${_id}/card`, `/boards/${_id}/person`]) {
    const replies = [];
    for (const _ of [1, 2]) replies.push(await app.post(path, { text: "a" }, keyed("k")));
    assertEquals(replies.map(({ status }) => status), [201, 201]);
    assertEquals(replies[1]?.body, replies[0]?.body);
    assertEquals(replies[1]?.headers.get("location"), path);
    assertEquals((await app.post(path, { text: "a" }, keyed("other"))).status, 409);
    assertEquals((await app.delete(path)).status, 204);
    await app.created(path, { text: "b" });
    // It is another one now
    assertEquals((await app.post(path, { text: "a" }, keyed("k"))).status, 404);
  }
});

test("a replay shows what is stored now", async (t) => {
  await using app = await mount([Note, Board]);
  for (const path of await listsOf(app)) {
    await t.step(path, async () => {
      const { _id } = await app.created(path, { text: "b" }, keyed("k"));
      if (path !== "/hooked") await app.updated(`${path}/${_id}`, { text: "c" });
      const now = await app.get(`${path}/${_id}`);
      const again = await app.post(path, { text: "b" }, keyed("k"));
      assertEquals([again.status, again.body as unknown], [201, now.body]);
      assertEquals(again.headers.get("etag"), now.headers.get("etag"));
    });
  }
});

test("a replay of what was removed is a 404, and nothing is created again", async (t) => {
  await using app = await mount([Note, Board]);
  for (const path of await listsOf(app)) {
    await t.step(path, async () => {
      const { _id } = await app.created(path, { text: "gone" }, keyed("k"));
      await age(app.database);
      assertEquals((await app.delete(`${path}/${_id}`)).status, 204);
      const again = await app.post(path, { text: "gone" }, keyed("k"));
      assertEquals([again.status, again.headers.get("location")], [404, null]);
      assertEquals((await textsAt(app, path)).includes("gone"), false);
    });
  }
});

test("a key with another body is a 422, and the order of keys makes no other body", async () => {
  await using app = await mount([Note]);
  const first = await app.created("/notes", { text: "a", code: "1" }, keyed("k"));
  const other = await app.post<ErrorBody>("/notes", { text: "b", code: "1" }, keyed("k"));
  assertEquals([other.status, other.body.code], [422, "UNPROCESSABLE_ENTITY"]);
  assertEquals(await app.created("/notes", { code: "1", text: "a" }, keyed("k")), first);
  assertEquals(await textsAt(app, "/notes"), ["a"]);
});

test("keys are the same with and without quotes, and belong to a path", async () => {
  await using app = await mount([Note]);
  const first = await app.created("/notes", { text: "a" }, keyed("k"));
  assertEquals(await app.created("/notes", { text: "a" }, keyed(`"k"`)), first);
  assertEquals(await app.created("/notes/", { text: "a" }, keyed(` k `)), first);
  const other = await app.created("/hooked", { text: "a" }, keyed("k"));
  assertEquals(other._id === first._id, false);
  await app.created("/notes", { text: "a" }, keyed("K"));
  await app.created("/notes", { text: "a" });
  assertEquals(await textsAt(app, "/notes"), ["a", "a", "a", "a"]);
});

const LONGEST = "k".repeat(255);

test("a key has 1 to 255 characters, and comes once", async () => {
  await using app = await mount([Note]);
  for (const key of ["", `""`, `"k`, `"k"x`, `"k", "l"`, `${LONGEST}k`, `"${LONGEST}k"`]) {
    const { status, body } = await app.post<ErrorBody>("/notes", { text: "a" }, keyed(key));
    assertEquals([status, body.code], [400, "BAD_FORMAT"], key);
    assertMatch(body.message, /Idempotency-Key/);
  }
  const head = "POST /notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const keys = "Idempotency-Key: a\r\nidempotency-key: a\r\n";
  const rest = "Connection: close\r\nContent-Length: 12\r\n\r\n";
  assertEquals((await requestRaw(app.url, `${head}${keys}${rest}{"text":"a"}`)).status, 400);
  for (const key of [LONGEST, `"${LONGEST}"`, "k", `"a\\"b\\\\"`]) {
    await app.created("/notes", { text: "a" }, keyed(key));
  }
  assertEquals(await textsAt(app, "/notes"), ["a", "a", "a"]);
});

@rest({
  route: "/required",
  methods: [create({ idempotency: { keep: "1h", required: true }, preFetch: () => true }), one()],
})
@rest({ route: "/ignored", methods: [create()] })
class Order extends FrameworkModel {
  @prop()
  text?: string;
}

test("a key is required where the model says so, and ignored where it says nothing", async () => {
  await using app = await mount([Order]);
  const { status, body } = await app.post<ErrorBody>("/required", { text: "a" });
  assertEquals([status, body.code], [400, "BAD_FORMAT"]);
  assertMatch(body.message, /"Idempotency-Key" is required/);
  await app.created("/required", { text: "a" }, keyed("k"));
  const ids = new Set();
  for (const key of ["k", "k", `"`]) {
    ids.add((await app.created("/ignored", { text: "a" }, keyed(key)))._id);
  }
  assertEquals(ids.size, 3);
});

test("records of keys have no key, no caller and no body, and expire", async () => {
  await using app = await mount([Note]);
  await app.created("/notes", { text: "secret text" }, keyed("secret key"));
  const records = app.database.connection.collection("mongrove_keys");
  const [record] = await records.find().toArray();
  assertEquals(/secret|notes/.test(JSON.stringify(record)), false);
  const { expires, at } = record as unknown as { expires: Date; at: Date };
  assertEquals(Number(expires) - Number(at), 24 * 3_600_000);
  assertEquals(Math.abs(Number(at) - Date.now()) < 60_000, true);
  const isExpiring = async () =>
    (await records.indexes()).some(({ key, expireAfterSeconds }) =>
      key.expires === 1 && expireAfterSeconds === 0
    );
  await until(isExpiring);
});

test("an expired key is free, though its record is still there", async () => {
  await using app = await mount([Note]);
  await app.created("/notes", { text: "a" }, keyed("k"));
  const records = app.database.connection.collection("mongrove_keys");
  await records.updateMany({}, { $set: { expires: new Date(Date.now() - 1000) } });
  await app.created("/notes", { text: "b" }, keyed("k"));
  assertEquals(await textsAt(app, "/notes"), ["a", "b"]);
  assertEquals(await records.countDocuments(), 1);
});

@rest({
  route: "/unversioned",
  methods: [create({ idempotency: IDEMPOTENCY }), one()],
  schemaOptions: { versionKey: false },
})
class Unversioned extends FrameworkModel {
  @prop()
  text?: string;
}

test("keys need no versions", async () => {
  await using app = await mount([Unversioned]);
  const replies = [];
  for (const _ of [1, 2]) replies.push(await app.post("/unversioned", { text: "a" }, keyed("k")));
  assertEquals(replies.map(({ status }) => status), [201, 201]);
  assertEquals(replies[1]?.body, replies[0]?.body);
  assertEquals(replies[1]?.headers.get("etag"), replies[0]?.headers.get("etag"));
});

test("a replay may be minimal", async () => {
  await using app = await mount([Note]);
  const minimal = keyed("k", { prefer: "return=minimal" });
  const first = await app.post("/notes", { text: "a" }, minimal);
  const second = await app.post("/notes", { text: "a" }, minimal);
  assertEquals([second.status, second.text], [201, ""]);
  for (const name of ["location", "etag", "preference-applied"]) {
    assertEquals(second.headers.get(name), first.headers.get(name));
    assert(first.headers.has(name));
  }
});

class Nameless extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
}

test("keys of what has no identifier do not start", () => {
  @rest({ route: "/holders", methods: [one()] })
  class Holder extends FrameworkModel {
    @rest({ methods: [create({ idempotency: IDEMPOTENCY })] })
    @prop({ type: Nameless })
    part?: Nameless;
  }
  const error = assertThrows(() => Framework.describe({ models: [Holder] }), TypeError);
  assertMatch(error.message, /create\(\) cannot have "idempotency": what it makes has no _id/);
});

@rest({
  route: "/given",
  methods: [
    create({
      idempotency: IDEMPOTENCY,
      async fetch(req) {
        const model = await req.framework.model();
        return await model.findOne({ text: "stored" }) ?? new model({ text: "new" });
      },
    }),
    one(),
  ],
})
class Given extends FrameworkModel {
  @prop()
  text?: string;
  @prop()
  note?: string;
}

test("a fetch hook may give a new entity of its own, but none that is stored", async () => {
  await using app = await mount([Given], { onError: () => {} });
  const first = await app.created("/given", { note: "a" }, keyed("k"));
  assertEquals([first.text, first.note], ["new", "a"]);
  assertEquals(await app.created("/given", { note: "a" }, keyed("k")), first);
  await getModel(Given).create({ text: "stored" });
  assertEquals((await app.post("/given", { note: "b" }, keyed("other"))).status, 500);
  assertEquals(await getModel(Given).countDocuments({ note: "b" }), 0);
});

@rest({
  route: "/narrow",
  methods: [
    create({
      idempotency: IDEMPOTENCY,
      preFetch(req) {
        req.framework.projection = { _id: 0 };
        return true;
      },
    }),
    one(),
  ],
})
class Narrow extends FrameworkModel {
  @prop()
  text?: string;
}

test("a creation may show no identifier", async () => {
  await using app = await mount([Narrow]);
  const first = await app.created("/narrow", { text: "a" }, keyed("k"));
  assertEquals(first._id, undefined);
  assertEquals((await app.created("/narrow", { text: "a" }, keyed("k"))).text, "a");
  assertEquals(await getModel(Narrow).countDocuments(), 1);
});
