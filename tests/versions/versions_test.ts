import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { Account, mountAccount } from "../fixtures/versioned.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { mount, NOBODY } from "../support/support.ts";

interface Counted {
  readonly _id: string;
  readonly count: number;
}

function ifMatch(tag: string) {
  return { headers: { "if-match": tag } };
}

/** Reads an entity and its tag. */
async function tagged(app: Client, path: string) {
  const { status, headers, body } = await app.get<Counted>(path);
  assertEquals(status, 200);
  return { body, tag: headers.get("etag") ?? "" };
}

test("answers of one entity have a strong ETag that begins with the version", async () => {
  await using app = await mountAccount();
  for (const path of app.paths) {
    const first = await tagged(app, path);
    assertMatch(first.tag, /^"\d+\.[\w-]{16}"$/);
    const updated = await app.patch(path, { count: 1 });
    const second = await tagged(app, path);
    assertEquals(updated.headers.get("etag"), second.tag, path);
    assertNotEquals(first.tag.split(".")[0], second.tag.split(".")[0], path);
  }
  const made = await app.post("/counters", {});
  assertEquals(made.headers.get("etag"), (await tagged(app, `/counters/${made.body._id}`)).tag);
});

test("an update that changes nothing tells the version that is stored then", async () => {
  await using app = await mountAccount();
  for (const path of app.paths) {
    for (const body of [{}, { count: 0 }]) {
      const { headers } = await app.patch(path, body);
      assertEquals(headers.get("etag"), (await tagged(app, path)).tag, path);
    }
  }
});

test("an update with If-Match is written only if the version is still the same", async () => {
  await using app = await mountAccount();
  for (const path of app.paths) {
    const { tag } = await tagged(app, path);
    assertEquals((await app.patch(path, { count: 1 }, ifMatch(tag))).status, 200, path);
    const late = await app.patch(path, { count: 2 }, ifMatch(tag));
    assertEquals([late.status, late.body.code], [412, "PRECONDITION_FAILED"], path);
    assertEquals((await tagged(app, path)).body.count, 1, path);
  }
});

test("a removal with If-Match is done only if the version is still the same", async () => {
  // Some places are inside others: each has an account of its own
  let count = 1;
  for (let place = 0; place < count; place++) {
    await using app = await mountAccount();
    const path = app.paths[place] as string;
    const { tag } = await tagged(app, path);
    await app.updated(path, { count: 1 });
    assertEquals((await app.delete(path, ifMatch(tag))).status, 412, path);
    const now = await tagged(app, path);
    assertEquals((await app.delete(path, ifMatch(now.tag))).status, 204, path);
    assertEquals((await app.get(path)).status, 404, path);
    count = app.paths.length;
  }
});

test("If-Match takes any version, several, weakened ones, and the version alone", async () => {
  await using app = await mountAccount();
  for (const path of app.paths) {
    const { tag } = await tagged(app, path);
    const [version] = tag.slice(1).split(".");
    const others = `"999.abc", W/${tag}, "x"`;
    assertEquals((await app.patch(path, { count: 1 }, ifMatch(others))).status, 200, path);
    const alone = `"${Number(version) + 1}"`;
    assertEquals((await app.patch(path, { count: 2 }, ifMatch(alone))).status, 200, path);
    assertEquals((await app.patch(path, { count: 3 }, ifMatch("*"))).status, 200, path);
    const padded = `"0${Number(version) + 3}"`;
    for (const wrong of [`"x"`, "", version ?? "", `"1e1"`, padded, `"${"9".repeat(30)}"`, "W/*"]) {
      assertEquals((await app.patch(path, { count: 4 }, ifMatch(wrong))).status, 412, path + wrong);
    }
  }
});

test("an entity that others have stored without a version has the version none", async () => {
  await using app = await mountAccount();
  for (const stored of [{}, { __v: null }]) {
    const { insertedId } = await getModel(Account).collection.insertOne(stored as never);
    for (const route of ["/plain", "/hooked"]) {
      const path = `${route}/${insertedId}`;
      await getModel(Account).collection.replaceOne({ _id: insertedId } as never, stored as never);
      const { tag } = await tagged(app, path);
      assert(tag.startsWith(`"none.`), tag);
      assertEquals((await app.patch(path, { count: 1 }, ifMatch(tag))).status, 200);
      assertEquals((await app.patch(path, { count: 2 }, ifMatch(tag))).status, 412);
    }
  }
});

test("readers whose hooks show other things get other tags of the same version", async () => {
  await using app = await mountAccount();
  const [plain = "", short = ""] = ["plain", "short"].map((route) => `/${route}/${app.id}`);
  const [first, second] = [await tagged(app, plain), await tagged(app, short)];
  assertEquals(first.tag.split(".")[0], second.tag.split(".")[0]);
  assertNotEquals(first.tag, second.tag);
  assertEquals((await app.patch(plain, { count: 1 }, ifMatch(second.tag))).status, 200);
});

test("the version is told where the answer leaves it out", async () => {
  await using app = await mountAccount();
  await app.updated(`/plain/${app.id}`, { count: 1 });
  for (const path of ["selected", "chosen", "projected", "excluded", "both"]) {
    const query = path === "projected" || path === "excluded" ? "" : "?select=count";
    const { tag, body } = await tagged(app, `/${path}/${app.id}${query}`);
    assertEquals([Object.hasOwn(body, "__v"), tag.split(".")[0]], [false, `"1`], path);
  }
});

test("404 comes before 412", async () => {
  await using app = await mountAccount();
  for (const path of app.paths.filter((each) => !each.endsWith("/single"))) {
    const gone = path.replace(/[0-9a-f]{24}$/, NOBODY);
    assertEquals((await app.patch(gone, {}, ifMatch(`"5.x"`))).status, 404, gone);
    assertEquals((await app.delete(gone, ifMatch("*"))).status, 404, gone);
  }
  for (const path of [`/closed/${app.id}`, `/scoped/${app.id}`]) {
    for (const tag of [`"999.x"`, `"0.x"`, "*"]) {
      assertEquals((await app.patch(path, { count: 1 }, ifMatch(tag))).status, 404, path);
      assertEquals((await app.delete(path, ifMatch(tag))).status, 404, path);
    }
  }
});

test("If-None-Match answers 304 for the same tag alone, and 404 for what is gone", async () => {
  await using app = await mountAccount();
  for (const path of app.paths) {
    const { tag } = await tagged(app, path);
    const again = () => app.get(path, { headers: { "if-none-match": tag } });
    const same = await again();
    assertEquals([same.status, same.text], [304, ""], path);
    await app.updated(path, { note: "x" });
    assertEquals((await again()).status, 200, path);
  }
});

test("If-None-Match, sent again and again, answers 304 until any program changes what is shown", async () => {
  await using app = await mountAccount();
  const { collection } = getModel(Account);
  const path = `/plain/${app.id}`;
  const ask = (tag: string) => app.get<Counted>(path, { headers: { "if-none-match": tag } });
  let { tag } = await tagged(app, path);
  for (const count of [5, 6, 5]) {
    for (let time = 0; time < 3; time++) assertEquals((await ask(tag)).status, 304);
    for (const other of [`W/${tag}`, `"x", ${tag}`, "*"]) {
      const { status, text, headers } = await ask(other);
      assertEquals([status, text, headers.get("etag")], [304, "", tag], other);
    }
    // The version stays: this program does not count it.
    await collection.updateOne({}, { $set: { count } });
    const { status, body, headers } = await ask(tag);
    assertEquals([status, body.count], [200, count]);
    tag = headers.get("etag") ?? "";
  }
  await collection.deleteOne({});
  assertEquals((await ask(tag)).status, 404);
});

test("If-None-Match answers 404 for what the scope hides by now, however often it was asked for", async () => {
  await using app = await mountAccount();
  const { collection } = getModel(Account);
  await collection.updateOne({}, { $set: { note: "another" } });
  const path = `/scoped/${app.id}`;
  const headers = { "if-none-match": (await tagged(app, path)).tag };
  const statuses = [];
  for (let time = 0; time < 3; time++) statuses.push((await app.get(path, { headers })).status);
  await collection.updateOne({}, { $set: { note: "hidden" } });
  statuses.push((await app.get(path, { headers })).status);
  assertEquals(statuses, [304, 304, 304, 404]);
});

test("If-None-Match answers 200 with a default that is computed at every read", async () => {
  let reads = 0;
  @rest({ route: "/clocks", methods: [one()] })
  class Clock extends FrameworkModel {
    @prop({ type: Number, default: () => ++reads })
    time?: number;
  }
  await using app = await mount([Clock]);
  const { insertedId } = await getModel(Clock).collection.insertOne({} as never);
  let tag = "*";
  for (let time = 0; time < 4; time++) {
    const headers = time === 0 ? {} : { "if-none-match": tag };
    const reply = await app.get(`/clocks/${insertedId}`, { headers });
    assertEquals(reply.status, 200);
    tag = reply.headers.get("etag") ?? "";
  }
});

test("clients that read, change and write with If-Match lose no change", async () => {
  await using app = await mountAccount();
  const CLIENTS = casesOf(12, 6);
  for (const path of app.paths) {
    const { body: { count: before } } = await tagged(app, path);
    const increment = async () => {
      for (;;) {
        const { body, tag } = await tagged(app, path);
        const { status } = await app.patch(path, { count: body.count + 1 }, ifMatch(tag));
        if (status === 200) return;
        assertEquals(status, 412, path);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, increment));
    assertEquals((await tagged(app, path)).body.count, before + CLIENTS, path);
  }
});

test("of two changes of an entity whose version is null, one counts, and the other is a 409", async () => {
  const waiting = gate(2);
  @rest({ route: "/nulls", methods: [update({ preSave: waiting })] })
  class Nulled extends FrameworkModel {
    @prop()
    a?: string;
    @prop()
    b?: string;
  }
  await using app = await mount([Nulled]);
  const { collection } = getModel(Nulled);
  const { insertedId } = await collection.insertOne({ __v: null } as never);
  const path = `/nulls/${insertedId}`;
  const replies = await Promise.all([app.patch(path, { a: "1" }), app.patch(path, { b: "1" })]);
  assertEquals(replies.map(({ status }) => status).sort(), [200, 409]);
  assertEquals((await collection.findOne({ _id: insertedId }) as { __v?: unknown } | null)?.__v, 1);
});
