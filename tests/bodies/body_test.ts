import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { create, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { Address, Person } from "../fixtures/person.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount, NOBODY } from "../support/support.ts";

/** What the database holds, past Mongoose. */
async function stored(target: ModelClass, id: unknown): Promise<Record<string, unknown>> {
  const _id = new mongoose.Types.ObjectId(String(id));
  return await getModel(target).collection.findOne({ _id }) ?? {};
}

test("create() and update() ignore what is not declared", async () => {
  await using app = await mount([Person]);
  const extra = {
    admin: true,
    "address.street": "x",
    "address.$": 1,
    $set: { role: "x" },
    id: "1",
  };
  const made = await app.post("/people", {
    name: "Ada",
    ...extra,
    address: { street: "s", admin: true },
  });
  const changed = await app.patch(`/people/${made.body._id}`, {
    ...extra,
    address: { admin: true },
  });
  assertEquals([made.status, changed.status], [201, 200]);
  const raw = await stored(Person, made.body._id);
  const fields = ["__v", "_id", "address", "homes", "luck", "name", "tags"];
  assertEquals(Object.keys(raw).sort(), fields);
  assertEquals(Object.keys(raw.address as object).sort(), ["_id", "floor", "street"]);
});

test("create() and update() refuse what is not declared with 400 when strict is throw", async () => {
  @rest({ route: "/strict", methods: [create(), update()], schemaOptions: { strict: "throw" } })
  class Strict extends Named {}
  await using app = await mount([Strict]);
  const { _id } = await getModel(Strict).create({ name: "a" });
  const body = { name: "b", admin: true, extra: null };
  for (const path of ["/strict", `/strict/${_id}`]) {
    const method = path === "/strict" ? "POST" : "PATCH";
    const reply = await app.send<ErrorBody>(method, path, { body });
    assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
    assertEquals(Object.keys(reply.body.errors ?? {}), ["admin", "extra"]);
    assertEquals(reply.body.errors?.admin?.kind, "strict");
  }
  assertEquals((await getModel(Strict).find()).map(({ name }) => name), ["a"]);
});

test("create() and update() never take _id, __v, timestamps or readonly fields from a body", async () => {
  @rest({
    route: "/system",
    methods: [create(), update()],
    schemaOptions: { timestamps: { createdAt: "made", updatedAt: true }, strict: "throw" },
  })
  class System extends FrameworkModel {
    @prop({ readonly: true, default: "plain" })
    role!: string;
    @prop({ type: Address })
    address?: Address;
  }
  await using app = await mount([System]);
  const past = "2000-01-01T00:00:00.000Z";
  const address = { _id: NOBODY, street: "s", checked: "x" };
  const body = { _id: NOBODY, __v: 9, made: past, updatedAt: past, role: "admin", address };
  const made = await app.post("/system", body);
  const changed = await app.patch(`/system/${made.body._id}`, body);
  for (const [reply, version] of [[made, 0], [changed, 1]] as const) {
    const { _id, __v, role, updatedAt } = reply.body;
    const inner = reply.body.address as Record<string, unknown>;
    assertEquals([__v, role], [version, "plain"]);
    assertEquals([_id === NOBODY, inner._id === NOBODY], [false, false]);
    assertEquals([reply.body.made === past, updatedAt === past], [false, false]);
    assertEquals("checked" in inner, false);
  }
});

test("create() and update() give embedded documents of arrays and maps their own _id", async () => {
  await using app = await mount([Person]);
  const home = { _id: NOBODY, street: "s", checked: "x" };
  const body = { name: "Ada", homes: [home], places: { a: home } };
  const made = await app.post("/people", body);
  const changed = await app.patch(`/people/${made.body._id}`, {
    homes: [home, home],
    places: { b: home },
  });
  assertEquals([made.status, changed.status], [201, 200]);
  assertEquals(changed.text.includes(NOBODY), false);
  assertEquals(changed.text.includes("checked"), false);
});

test("update() merges embedded objects, and leaves out what the patch does not name", async () => {
  await using app = await mount([Person]);
  const made = await app.post("/people", {
    name: "Ada",
    address: { street: "s", city: "c", floor: 3 },
  });
  const before = made.body.address as Record<string, unknown>;
  const reply = await app.patch(`/people/${made.body._id}`, { address: { city: "d" } });
  assertEquals(reply.body.address, { ...before, city: "d" });
  const cleared = await app.patch(`/people/${made.body._id}`, {
    address: { city: null, floor: null },
  });
  assertEquals(cleared.body.address, { _id: before._id, street: "s", floor: 1 });
});

test("update() makes an embedded object that was not there", async () => {
  await using app = await mount([Person]);
  const made = await app.post("/people", { name: "Ada" });
  const reply = await app.patch(`/people/${made.body._id}`, {
    address: { street: "s", city: null },
  });
  const address = reply.body.address as Record<string, unknown>;
  assertEquals(address, { _id: address._id, street: "s", floor: 1 });
  const gone = await app.patch(`/people/${made.body._id}`, { address: null });
  assertEquals("address" in gone.body, false);
  assertEquals("address" in await stored(Person, made.body._id), false);
});

/** The examples of RFC 7396, appendix A, as far as a body that is an object can hold them. */
const PATCHES: [before: unknown, patch: unknown, after: unknown][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [["a", "b"], ["c", "d"], ["c", "d"]],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, "bar", "bar"],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: 1 }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  [{ a: { b: 1 } }, {}, { a: { b: 1 } }],
];

test("update() merges into free-form fields as RFC 7396 says", async () => {
  await using app = await mount([Person]);
  for (const [before, change, after] of PATCHES) {
    const made = await app.post("/people", { name: "Ada", free: before });
    const reply = await app.patch(`/people/${made.body._id}`, { free: change });
    assertEquals([reply.status, reply.body.free], [200, after]);
    assertEquals((await stored(Person, made.body._id)).free, after);
  }
});

test("update() merges into maps, key by key", async () => {
  await using app = await mount([Person]);
  const places = { a: { street: "s", city: "c" }, b: { street: "t" } };
  const made = await app.post("/people", { name: "Ada", words: { a: "1", b: "2" }, places });
  const body = {
    words: { a: null, c: "3" },
    places: { a: { city: "d" }, b: null, c: { street: "u" } },
  };
  const reply = await app.patch(`/people/${made.body._id}`, body);
  const { words, places: left } = await stored(Person, made.body._id) as Record<string, Plain>;
  assertEquals([reply.body.words, words], [{ b: "2", c: "3" }, { b: "2", c: "3" }]);
  const shown = Object.entries(left ?? {}).map(([key, { street, city }]) => [key, street, city]);
  assertEquals(shown, [["a", "s", "d"], ["c", "u", undefined]]);
  assertEquals(Object.keys(reply.body.places as object), ["a", "c"]);
});

type Plain = Record<string, Record<string, unknown>>;

test("update() clears a field by null: gone, or its default, or an empty array", async () => {
  await using app = await mount([Person]);
  const body = { nick: "a", luck: 1, tags: ["a"], homes: [{ street: "s" }], free: { a: 1 } };
  const made = await app.post("/people", { name: "Ada", ...body, words: { a: "1" } });
  const nulls = { nick: null, luck: null, tags: null, homes: null, free: null, words: null };
  const reply = await app.patch(`/people/${made.body._id}`, nulls);
  const { _id } = made.body;
  assertEquals(reply.body, { _id, __v: 1, name: "Ada", luck: 7, tags: [], homes: [] });
  const raw = await stored(Person, _id);
  assertEquals(Object.keys(raw).sort(), ["__v", "_id", "homes", "luck", "name", "tags"]);
});

test("create() and update() refuse null for a required field with 400", async () => {
  await using app = await mount([Person]);
  const made = await app.post("/people", { name: "Ada", address: { street: "s" } });
  const replies = [
    await app.post<ErrorBody>("/people", { name: null }),
    await app.patch<ErrorBody>(`/people/${made.body._id}`, { name: null }),
    await app.patch<ErrorBody>(`/people/${made.body._id}`, { address: { street: null } }),
  ];
  const problems = replies.map(({ status, body }) => [
    status,
    body.code,
    Object.entries(body.errors ?? {}).map(([path, { kind }]) => [path, kind]),
  ]);
  assertEquals(problems, [
    [400, "BAD_DATA", [["name", "required"]]],
    [400, "BAD_DATA", [["name", "required"]]],
    [400, "BAD_DATA", [["address.street", "required"]]],
  ]);
});

test("update() replaces arrays whole", async () => {
  await using app = await mount([Person]);
  const made = await app.post("/people", {
    name: "Ada",
    tags: ["a", "b"],
    homes: [{ street: "s" }],
  });
  const reply = await app.patch(`/people/${made.body._id}`, {
    tags: ["c"],
    homes: [{ street: "t" }, { street: "u" }],
  });
  const homes = reply.body.homes as Record<string, unknown>[];
  assertEquals(reply.body.tags, ["c"]);
  assertEquals(homes.map(({ street }) => street), ["t", "u"]);
  const emptied = await app.patch(`/people/${made.body._id}`, { tags: [], homes: [] });
  assertEquals([emptied.body.tags, emptied.body.homes], [[], []]);
});

test("create() and update() refuse keys that the database could not address with 400", async () => {
  await using app = await mount([Person]);
  const { _id } = await getModel(Person).create({
    name: "Ada",
    free: { a: {} },
    words: { a: "1" },
  });
  for (const key of ["a.b", "$a", "$where", ".", "", "a\0b"]) {
    const bodies = [{ free: { [key]: 1 } }, { free: { a: { [key]: 1 } } }, {
      words: { [key]: "1" },
    }]
      .concat({ free: { a: [{ [key]: 1 }] } } as never, { free: { [key]: null } } as never);
    for (const body of bodies) {
      const reply = await app.patch<ErrorBody>(`/people/${_id}`, body);
      assertEquals([key, body, reply.status, reply.body.code], [key, body, 400, "BAD_DATA"]);
    }
    const reply = await app.post<ErrorBody>("/people", {
      name: "Bob",
      free: { a: [{ [key]: 1 }] },
    });
    assertEquals([key, reply.status], [key, 400]);
  }
  assertEquals((await stored(Person, _id)).free, { a: {} });
});
