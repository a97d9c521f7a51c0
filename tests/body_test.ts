import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { Buffer } from "node:buffer";
import { arrayProp, create, FrameworkModel, getModel, one, prop, rest, update } from "../mod.ts";
import type { ModelClass } from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted, NOBODY } from "./support.ts";

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
  @prop()
  city?: string;
  @prop({ type: Number, default: 1 })
  floor!: number;
  @prop({ readonly: true })
  checked?: string;
}

@rest({ route: "/people", methods: [create(), one(), update()] })
class Person extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  nick?: string;
  @prop({ type: Number, default: 7 })
  luck!: number;
  @prop({ readonly: true })
  role?: string;
  @prop({ type: Address })
  address?: Address;
  @arrayProp({ items: Address, embedded: true })
  homes?: Address[];
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: String })
  words?: Map<string, unknown>;
  @prop({ type: Map, of: Address })
  places?: Map<string, unknown>;
}

const JSON_TYPE = { "content-type": "application/json" };

function post<Body = EntityBody>({ url }: Mounted, body: unknown, path = "/people") {
  return request<Body>(`${url}${path}`, { method: "POST", body });
}

function patch<Body = EntityBody>({ url }: Mounted, id: unknown, body: unknown, path = "/people") {
  return request<Body>(`${url}${path}/${id}`, { method: "PATCH", body });
}

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
  const made = await post(app, { name: "Ada", ...extra, address: { street: "s", admin: true } });
  const changed = await patch(app, made.body._id, { ...extra, address: { admin: true } });
  assertEquals([made.status, changed.status], [201, 200]);
  const raw = await stored(Person, made.body._id);
  const fields = ["__v", "_id", "address", "homes", "luck", "name", "tags"];
  assertEquals(Object.keys(raw).sort(), fields);
  assertEquals(Object.keys(raw.address as object).sort(), ["_id", "floor", "street"]);
});

test("create() and update() refuse what is not declared with 400 when strict is throw", async () => {
  @rest({ route: "/strict", methods: [create(), update()], schemaOptions: { strict: "throw" } })
  class Strict extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Strict]);
  const { _id } = await getModel(Strict).create({ name: "a" });
  const body = { name: "b", admin: true, extra: null };
  for (const path of ["/strict", `/strict/${_id}`]) {
    const method = path === "/strict" ? "POST" : "PATCH";
    const reply = await request<ErrorBody>(app.url + path, { method, body });
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
  const made = await post(app, body, "/system");
  const changed = await patch(app, made.body._id, body, "/system");
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
  const made = await post(app, body);
  const changed = await patch(app, made.body._id, { homes: [home, home], places: { b: home } });
  assertEquals([made.status, changed.status], [201, 200]);
  assertEquals(changed.text.includes(NOBODY), false);
  assertEquals(changed.text.includes("checked"), false);
});

test("create() and update() do nothing with prototype keys, at any depth", async () => {
  await using app = await mount([Person]);
  const evil = `"__proto__":{"evil":1},"constructor":{"evil":1},"prototype":{"evil":1}`;
  const raw =
    `{"name":"Ada",${evil},"address":{"street":"s",${evil}},"homes":[{"street":"s",${evil}}],` +
    `"free":{"a":1,${evil},"b":{"c":2,${evil}}},"words":{"w":"x",${
      evil.replaceAll(/\{.*?\}/g, '"y"')
    }}}`;
  const made = await request<EntityBody>(`${app.url}/people`, {
    method: "POST",
    raw,
    headers: JSON_TYPE,
  });
  const url = `${app.url}/people/${made.body._id}`;
  const changed = await request<EntityBody>(url, { method: "PATCH", raw, headers: JSON_TYPE });
  assertEquals([made.status, changed.status], [201, 200]);
  assertEquals(({} as Record<string, unknown>).evil, undefined);
  const { free, words } = await stored(Person, made.body._id);
  assertEquals([free, words], [{ a: 1, b: { c: 2 } }, { w: "x" }]);
  assertEquals(changed.text.includes("evil"), false);
});

test("update() merges embedded objects, and leaves out what the patch does not name", async () => {
  await using app = await mount([Person]);
  const made = await post(app, { name: "Ada", address: { street: "s", city: "c", floor: 3 } });
  const before = made.body.address as Record<string, unknown>;
  const reply = await patch(app, made.body._id, { address: { city: "d" } });
  assertEquals(reply.body.address, { ...before, city: "d" });
  const cleared = await patch(app, made.body._id, { address: { city: null, floor: null } });
  assertEquals(cleared.body.address, { _id: before._id, street: "s", floor: 1 });
});

test("update() makes an embedded object that was not there", async () => {
  await using app = await mount([Person]);
  const made = await post(app, { name: "Ada" });
  const reply = await patch(app, made.body._id, { address: { street: "s", city: null } });
  const address = reply.body.address as Record<string, unknown>;
  assertEquals(address, { _id: address._id, street: "s", floor: 1 });
  const gone = await patch(app, made.body._id, { address: null });
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
    const made = await post(app, { name: "Ada", free: before });
    const reply = await patch(app, made.body._id, { free: change });
    assertEquals([reply.status, reply.body.free], [200, after]);
    assertEquals((await stored(Person, made.body._id)).free, after);
  }
});

test("update() merges into maps, key by key", async () => {
  await using app = await mount([Person]);
  const places = { a: { street: "s", city: "c" }, b: { street: "t" } };
  const made = await post(app, { name: "Ada", words: { a: "1", b: "2" }, places });
  const body = {
    words: { a: null, c: "3" },
    places: { a: { city: "d" }, b: null, c: { street: "u" } },
  };
  const reply = await patch(app, made.body._id, body);
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
  const made = await post(app, { name: "Ada", ...body, words: { a: "1" } });
  const nulls = { nick: null, luck: null, tags: null, homes: null, free: null, words: null };
  const reply = await patch(app, made.body._id, nulls);
  const { _id } = made.body;
  assertEquals(reply.body, { _id, __v: 1, name: "Ada", luck: 7, tags: [], homes: [] });
  const raw = await stored(Person, _id);
  assertEquals(Object.keys(raw).sort(), ["__v", "_id", "homes", "luck", "name", "tags"]);
});

test("create() and update() refuse null for a required field with 400", async () => {
  await using app = await mount([Person]);
  const made = await post(app, { name: "Ada", address: { street: "s" } });
  const replies = [
    await post<ErrorBody>(app, { name: null }),
    await patch<ErrorBody>(app, made.body._id, { name: null }),
    await patch<ErrorBody>(app, made.body._id, { address: { street: null } }),
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
  const made = await post(app, { name: "Ada", tags: ["a", "b"], homes: [{ street: "s" }] });
  const reply = await patch(app, made.body._id, {
    tags: ["c"],
    homes: [{ street: "t" }, { street: "u" }],
  });
  const homes = reply.body.homes as Record<string, unknown>[];
  assertEquals(reply.body.tags, ["c"]);
  assertEquals(homes.map(({ street }) => street), ["t", "u"]);
  const emptied = await patch(app, made.body._id, { tags: [], homes: [] });
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
      const reply = await patch<ErrorBody>(app, _id, body);
      assertEquals([key, body, reply.status, reply.body.code], [key, body, 400, "BAD_DATA"]);
    }
    const reply = await post<ErrorBody>(app, { name: "Bob", free: { a: [{ [key]: 1 }] } });
    assertEquals([key, reply.status], [key, 400]);
  }
  assertEquals((await stored(Person, _id)).free, { a: {} });
});

class Knot extends FrameworkModel {
  @prop({ type: () => Knot })
  child?: Knot;
}

@rest({ route: "/knots", methods: [create(), update()] })
class Rope extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Knot })
  knot?: Knot;
  @prop({ type: Object })
  free?: object;
  @arrayProp({ items: String })
  tags?: string[];
}

test("create() and update() refuse a body nested thousands deep with 400", async () => {
  await using app = await mount([Rope], {
    prepare: (host) => host.use(express.json({ limit: "10mb" })),
  });
  const { _id } = await getModel(Rope).create({ free: { a: 1 } });
  const nest = (open: string, close: string) => open.repeat(50_000) + "1" + close.repeat(50_000);
  const deep = [
    ...["name", "knot", "tags", "free", "undeclared"].map((key) =>
      `{"${key}":${nest('{"a":', "}")}}`
    ),
    ...["tags", "free", "name"].map((key) => `{"${key}":${nest("[", "]")}}`),
    `{"knot":${nest('{"child":', "}")}}`,
  ];
  for (const raw of deep) {
    for (const [method, path] of [["POST", "/knots"], ["PATCH", `/knots/${_id}`]] as const) {
      const reply = await request<ErrorBody>(app.url + path, { method, raw, headers: JSON_TYPE });
      assertEquals([raw.slice(0, 20), method, reply.status], [raw.slice(0, 20), method, 400]);
    }
  }
});

test("create() and update() answer 400 when the body is missing", async () => {
  await using app = await mount([Person]);
  const { _id } = await getModel(Person).create({ name: "Ada" });
  for (const headers of [{}, JSON_TYPE, { "content-type": "text/plain" }]) {
    for (const [method, path] of [["POST", "/people"], ["PATCH", `/people/${_id}`]] as const) {
      const reply = await request<ErrorBody>(app.url + path, { method, headers: headers as never });
      assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"]);
    }
  }
});

test("create() and update() answer 400 when the body is no JSON object", async () => {
  await using app = await mount([Person], {
    prepare: (host) => host.use(express.json({ strict: false })),
  });
  const { _id } = await getModel(Person).create({ name: "Ada" });
  for (const raw of ["[]", `[{"name":"x"}]`, "null", "1", `"x"`, "true"]) {
    for (const [method, path] of [["POST", "/people"], ["PATCH", `/people/${_id}`]] as const) {
      const reply = await request<ErrorBody>(app.url + path, { method, raw, headers: JSON_TYPE });
      assertEquals([raw, reply.status, reply.body.code], [raw, 400, "BAD_FORMAT"]);
    }
  }
});

test("create() and update() answer 415 when the body is not JSON", async () => {
  await using app = await mount([Person], {
    prepare: (host) => host.use(express.json(), express.urlencoded(), express.text()),
  });
  const { _id } = await getModel(Person).create({ name: "Ada" });
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ]
    .concat("application/octet-stream", "text/json-not", "");
  for (const type of types) {
    const headers = type === "" ? {} : { "content-type": type };
    for (const [method, path] of [["POST", "/people"], ["PATCH", `/people/${_id}`]] as const) {
      const reply = await request<ErrorBody>(app.url + path, {
        method,
        raw: "name=Bob",
        headers: headers as never,
      });
      assertEquals([type, reply.status, reply.body.code], [type, 415, "UNSUPPORTED_MEDIA_TYPE"]);
    }
  }
  assertEquals((await getModel(Person).find()).map(({ name }) => name), ["Ada"]);
});

test("create() answers 500 and logs a hint when no parser is installed", async () => {
  await using app = await mount([Person], { prepare: () => {} });
  using warn = stub(console, "warn");
  using error = stub(console, "error");
  const reply = await post<ErrorBody>(app, { name: "Ada" });
  assertEquals([reply.status, reply.body.code], [500, "INTERNAL"]);
  assertStringIncludes(String(warn.calls[0]?.args[0]), "express.json()");
  assertEquals(reply.text.includes("express"), false);
  assertEquals([warn.calls.length, error.calls.length], [1, 1]);
});

test("update() takes application/merge-patch+json when the host parses it, else answers 415", async () => {
  const headers = { "content-type": "application/merge-patch+json" };
  const type = ["application/json", "application/merge-patch+json"];
  for (const [parser, status] of [[express.json({ type }), 200], [express.json(), 415]] as const) {
    await using app = await mount([Person], { prepare: (host) => host.use(parser) });
    const { _id } = await getModel(Person).create({ name: "Ada" });
    const url = `${app.url}/people/${_id}`;
    const reply = await request(url, { method: "PATCH", body: { name: "Bob" }, headers });
    assertEquals(reply.status, status);
    assertEquals((await getModel(Person).findById(_id))?.name, status === 200 ? "Bob" : "Ada");
  }
});

@rest({ route: "/types", methods: [create(), update()] })
class Typed extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  date?: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: mongoose.Types.ObjectId })
  id24?: string;
  @prop({ type: mongoose.Types.Decimal128 })
  decimal?: mongoose.Types.Decimal128;
  @prop({ type: mongoose.Types.UUID })
  uuid?: mongoose.Types.UUID;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @prop({ type: Address })
  address?: Address;
  @arrayProp({ items: Number })
  numbers?: number[];
  @arrayProp({ items: Address, embedded: true })
  homes?: Address[];
  @prop({ ref: Person })
  friend?: string;
}

const BAD_CASTS: [path: string, value: unknown, problem: string, kind: string][] = [
  ["text", { a: 1 }, "text", "String"],
  ["text", ["a"], "text", "String"],
  ["number", "abc", "number", "Number"],
  ["number", { $gt: 1 }, "number", "Number"],
  ["flag", "maybe", "flag", "Boolean"],
  ["date", "yesterday", "date", "Date"],
  ["big", "1.5", "big", "BigInt"],
  ["big", "9223372036854775808", "big", "BigInt"],
  ["bytes", "!", "bytes", "Buffer"],
  ["bytes", 5, "bytes", "Buffer"],
  ["id24", "abc", "id24", "ObjectId"],
  ["decimal", "abc", "decimal", "Decimal128"],
  ["uuid", "abc", "uuid", "UUID"],
  ["counts", { a: "x" }, "counts.a", "Number"],
  ["counts", [], "counts", "Map"],
  ["address", "x", "address", "Object"],
  ["address", [], "address", "Object"],
  ["address", { street: {} }, "address.street", "String"],
  ["numbers", [1, "x"], "numbers.1", "Number"],
  ["numbers", 1, "numbers", "Array"],
  ["homes", [{ street: "s" }, { floor: "x" }], "homes.1.floor", "Number"],
  ["homes", ["x"], "homes.0", "Object"],
  ["friend", "x", "friend", "ObjectId"],
  ["friend", { name: "Ada" }, "friend", "ObjectId"],
];

test("create() and update() name what cannot be cast, with its path and kind", async () => {
  await using app = await mount([Typed, Person]);
  const { _id } = await getModel(Typed).create({ address: { street: "s" } });
  for (const [path, value, problem, kind] of BAD_CASTS) {
    for (const [method, to] of [["POST", "/types"], ["PATCH", `/types/${_id}`]] as const) {
      const reply = await request<ErrorBody>(app.url + to, { method, body: { [path]: value } });
      const errors = Object.entries(reply.body.errors ?? {}).map(([at, { kind }]) => [at, kind]);
      assertEquals([value, reply.status, reply.body.code], [value, 400, "BAD_DATA"]);
      assertEquals(errors, [[problem, kind]]);
    }
  }
  assertEquals(await getModel(Typed).countDocuments(), 1);
});

test("create() names all fields that cannot be cast at once", async () => {
  await using app = await mount([Typed, Person]);
  const body = { number: "x", flag: "x", homes: [{ floor: "x" }] };
  const reply = await post<ErrorBody>(app, body, "/types");
  assertEquals(Object.keys(reply.body.errors ?? {}).sort(), ["flag", "homes.0.floor", "number"]);
});

test("create() reads every type in the form that answers have", async () => {
  await using app = await mount([Typed, Person]);
  const body = {
    text: "a",
    number: 1.5,
    flag: false,
    date: "2020-01-02T03:04:05.678Z",
    big: "9223372036854775807",
    bytes: "AAEC/w==",
    id24: NOBODY,
    decimal: "1.50",
    uuid: "01234567-89ab-4def-8123-456789abcdef",
    counts: { a: 1 },
    numbers: [1, 2],
    friend: NOBODY,
  };
  const made = await post(app, body, "/types");
  const { _id, __v, homes, ...shown } = made.body;
  assertEquals([__v, homes], [0, []]);
  assertEquals(shown, body);
  const changed = await patch(app, _id, body, "/types");
  assertEquals(changed.body, { ...made.body, __v: 1 });
});

test("create() and update() name the paths of embedded fields that are not valid", async () => {
  await using app = await mount([Person]);
  const body = {
    name: "Ada",
    address: {},
    homes: [{ street: "s" }, { city: "c" }],
    places: { a: {} },
  };
  const expected = ["address.street", "homes.1.street", "places.a.street"];
  const made = await post<ErrorBody>(app, body);
  assertEquals(Object.keys(made.body.errors ?? {}).sort(), expected);
  assertEquals(made.body.errors?.["homes.1.street"]?.kind, "required");
  const { _id } = await getModel(Person).create({ name: "Ada" });
  const changed = await patch<ErrorBody>(app, _id, body);
  assertEquals(Object.keys(changed.body.errors ?? {}).sort(), expected);
  assert(await getModel(Person).countDocuments() === 1);
});
