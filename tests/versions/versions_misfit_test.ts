import { assert, assertEquals } from "@std/assert";
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
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

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

/** What other programs may have stored in the place of a version. */
const MISFITS: Record<string, unknown> = {
  null: null,
  text: "x",
  nan: NaN,
  endless: Infinity,
  fraction: 1.5,
  negative: -3,
  huge: 1e300,
  long: Long.fromString("9007199254740995"),
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

test("an entity without a version has a tag until somebody writes", async () => {
  await using app = await mount([Book]);
  await Promise.all(Array.from({ length: ROUTES }, async (_, place) => {
    const path = pathsTo(await store(undefined))[place] as string;
    const tag = await tagOf(app, path);
    assertEquals(tag.split(".")[0], `"none`, path);
    const replies = await Promise.all(
      ["b", "c", "d"].map((text) => app.patch(path, { text }, ifMatch(tag))),
    );
    assertEquals(replies.map(({ status }) => status).sort(), [200, 412, 412], path);
    const next = await tagOf(app, path);
    assertEquals(next.split(".")[0], `"1`, path);
    assertEquals((await app.patch(path, { text: "d" }, ifMatch(next))).status, 200, path);
    assertEquals((await app.delete(path, ifMatch(await tagOf(app, path)))).status, 204, path);
  }));
});

test("a write of an entity with an odd version is made, or refused as a whole", async () => {
  await using app = await mount([Book]);
  for (const [what, __v] of Object.entries(MISFITS)) {
    await Promise.all(Array.from({ length: ROUTES }, async (_, place) => {
      const id = await store(__v);
      const path = pathsTo(id)[place] as string;
      const tag = await tagOf(app, path);
      assertEquals(tag.split(".")[0], `"none`, what);
      const { status, text } = await app.patch(path, { text: "b" });
      assert([200, 400, 409].includes(status), `${what} ${path}: ${status} ${text}`);
      const { body } = await app.get<EntityBody>(path);
      assertEquals(body.text, status === 200 ? "b" : "a", `${what} ${path}`);
      const stored = await getModel(Book).collection.findOne({
        _id: new mongoose.Types.ObjectId(id),
      });
      assertEquals(stored?.tags, ["t"], what);
      assert([204, 409].includes((await app.delete(path)).status), `${what} ${path}`);
    }));
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
