import { assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../mod.ts";
import { pass } from "./both_paths.ts";
import type { Client } from "./client.ts";
import { longTest, test } from "./harness/testing.ts";
import { type EntityBody, mount } from "./support.ts";

const { Double, Long } = mongoose.mongo;

class Entry extends FrameworkModel {
  @prop()
  text?: string;
}

function asPojo({ framework }: FrameworkRequest): boolean {
  framework.options.lean = true;
  return true;
}

const WRITES = [update(), remove()];
const PLAIN = [all(), one(), ...WRITES];

@rest({ route: "/plain", methods: PLAIN })
@rest({
  route: "/hooked",
  methods: [
    all({ postFetch: pass }),
    one({ postFetch: pass }),
    update({ preSave: pass }),
    remove({ preSave: pass }),
  ],
})
@rest({
  route: "/lean",
  methods: [all({ preSend: pass, lean: true }), one({ preSend: pass, lean: true }), ...WRITES],
})
@rest({ route: "/pojo", methods: [one({ preFetch: asPojo, preSend: pass }), ...WRITES] })
class Book extends FrameworkModel {
  @prop()
  text?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @rest({ methods: PLAIN })
  @arrayProp({ items: Entry, embedded: true })
  entries?: Entry[];
}

/** What other programs may have stored as a version. */
const MISFITS: Record<string, unknown> = {
  none: undefined,
  null: null,
  text: "x",
  nan: NaN,
  endless: Infinity,
  fraction: 1.5,
  negative: -3,
  huge: 1e300,
  long: Long.fromString("9007199254740995"),
  last: Long.MAX_VALUE,
  object: {},
  operator: { $gt: 0 },
  list: [7],
  texts: ["x"],
  bytes: new mongoose.mongo.Binary(new Uint8Array([7])),
  pattern: /x/,
  id: new mongoose.Types.ObjectId(),
};

const PART = new mongoose.Types.ObjectId();

/** Stores a book past Mongoose. */
async function store(__v: unknown): Promise<string> {
  const version = __v === undefined ? {} : { __v };
  const stored = { ...version, text: "a", tags: ["t"], entries: [{ _id: PART, text: "a" }] };
  return String((await getModel(Book).collection.insertOne(stored as never)).insertedId);
}

/** The places of a book, each with a version: its own, or that of what it is in. */
function pathsTo(id: string): string[] {
  const roots = ["plain", "hooked", "lean", "pojo"].map((route) => `/${route}/${id}`);
  return [...roots, `/plain/${id}/entries/${PART}`, `/hooked/${id}/entries/${PART}`];
}

const ROUTES = pathsTo("").length;

function ifMatch(tag: string | null) {
  return { headers: { "if-match": tag ?? "" } };
}

async function tagOf(app: Client, path: string): Promise<string> {
  const { status, headers, text } = await app.get(path);
  assertEquals(status, 200, `${path}: ${text}`);
  return headers.get("etag") ?? "";
}

/** Runs a check for each misfit, at each place of a book of its own. */
async function atEach(check: (app: Client, path: string, what: string) => Promise<void>) {
  await using app = await mount([Book]);
  for (const [what, __v] of Object.entries(MISFITS)) {
    await Promise.all(Array.from({ length: ROUTES }, async (_, place) => {
      const path = pathsTo(await store(__v))[place] as string;
      await check(app, path, `${what} ${path}`);
    }));
  }
}

test("a GET's tag can be matched whatever is stored as the version, until somebody writes", async () => {
  await atEach(async (app, path, what) => {
    const tag = await tagOf(app, path);
    assertEquals(tag.split(".")[0], `"none`, what);
    const first = await app.patch(path, { text: "b" }, ifMatch(tag));
    assertEquals([first.status, first.body.text], [200, "b"], `${what}: ${first.text}`);
    assertEquals((await app.patch(path, { text: "c" }, ifMatch(tag))).status, 412, what);
    const next = first.headers.get("etag") ?? "";
    assertEquals(next.split(".")[0], `"1`, what);
    assertEquals((await app.patch(path, { text: "d" }, ifMatch(next))).status, 200, what);
  });
});

longTest("a change by somebody else makes the tag of an odd version old", async () => {
  await atEach(async (app, path, what) => {
    const tag = await tagOf(app, path);
    const other = await app.patch(path, { text: "b" });
    assertEquals([other.status, other.headers.get("etag")?.split(".")[0]], [200, `"1`], what);
    assertEquals((await app.patch(path, { text: "c" }, ifMatch(tag))).status, 412, what);
    assertEquals((await app.delete(path, ifMatch(tag))).status, 412, what);
    assertEquals((await app.delete(path, ifMatch(await tagOf(app, path)))).status, 204, what);
  });
});

longTest(
  "an entity whose version is odd is removed with its tag, and no number matches it",
  async () => {
    await atEach(async (app, path, what) => {
      for (const wrong of [`"0"`, `"1"`, `"7"`]) {
        assertEquals((await app.patch(path, { text: "c" }, ifMatch(wrong))).status, 412, what);
        assertEquals((await app.delete(path, ifMatch(wrong))).status, 412, what);
      }
      const several = `"3", ${await tagOf(app, path)}`;
      assertEquals((await app.delete(path, ifMatch(several))).status, 204, what);
    });
  },
);

test("of many clients with the tag of an odd version one succeeds", async () => {
  await atEach(async (app, path, what) => {
    const tag = await tagOf(app, path);
    const replies = await Promise.all(
      ["b", "c", "d"].map((text) => app.patch(path, { text }, ifMatch(tag))),
    );
    assertEquals(replies.map(({ status }) => status).sort(), [200, 412, 412], what);
  });
});

longTest(
  "of updates without a tag at the same time where the version is odd, each one succeeds or is a 409",
  async () => {
    await atEach(async (app, path, what) => {
      const bodies = [{ text: "b" }, { text: "c" }, { text: "d" }];
      const replies = await Promise.all(bodies.map((body) => app.patch(path, body)));
      const statuses = replies.map(({ status }) => status).sort();
      assertEquals([statuses[0], ...statuses.filter((each) => each !== 200 && each !== 409)], [
        200,
      ]);
      assertEquals((await app.patch(path, { text: "e" })).status, 200, what);
      assertMatch(await tagOf(app, path), /^"[1-4]\./, what);
    });
  },
);

longTest("an array is replaced where the version is odd", async () => {
  await using app = await mount([Book]);
  for (const [what, __v] of Object.entries(MISFITS)) {
    for (const route of ["plain", "hooked"]) {
      const path = `/${route}/${await store(__v)}`;
      const tag = await tagOf(app, path);
      const { status, body } = await app.patch(path, { tags: ["u", "v"] }, ifMatch(tag));
      assertEquals([status, body.tags], [200, ["u", "v"]], `${what} ${path}`);
      assertEquals((await app.patch(path, { tags: [] }, ifMatch(tag))).status, 412, what);
    }
  }
});

test("an odd version is shown the same with and without hooks", async () => {
  await using app = await mount([Book]);
  for (const [what, __v] of Object.entries(MISFITS)) {
    const id = await store(__v);
    const [plain, hooked] = [await app.get(`/plain/${id}`), await app.get(`/hooked/${id}`)];
    assertEquals(hooked.text, plain.text, what);
    assertEquals(hooked.headers.get("etag"), plain.headers.get("etag"), what);
  }
  const [plain, hooked] = [await app.get<EntityBody[]>("/plain"), await app.get("/hooked")];
  assertEquals(plain.body.length, Object.keys(MISFITS).length);
  assertEquals(hooked.text, plain.text);
});

test("a whole number is a version whatever its type is", async () => {
  await using app = await mount([Book]);
  for (const seven of [new Double(7), Long.fromNumber(7), 7]) {
    for (let place = 0; place < ROUTES; place++) {
      const path = pathsTo(await store(seven))[place] as string;
      const tag = await tagOf(app, path);
      assertEquals(tag.split(".")[0], `"7`, path);
      const { status, headers } = await app.patch(path, { text: "b" }, ifMatch(tag));
      assertEquals([status, headers.get("etag")?.split(".")[0]], [200, `"8`], path);
      assertEquals((await app.patch(path, { text: "b" }, ifMatch(tag))).status, 412, path);
    }
  }
});
