// Runs alone: its model belongs to the first default connection.

import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, create, one, remove, update } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const { Schema: S } = mongoose;

const inner = new S({
  text: { type: String, validate: (value: string) => value.length < 9 },
  at: { type: Date, default: Date.now },
  deep: [{ code: { type: String, required: true } }],
}, { toJSON: { virtuals: true } });
inner.virtual("short").get(() => "s");
inner.pre("save", () => {});

const schema = new S({
  name: {
    type: String,
    required: true,
    unique: true,
    trim: true,
    set: (v: string) => v,
    alias: "n",
  },
  mail: {
    type: String,
    match: /@/,
    validate: { validator: async () => await Promise.resolve(true) },
  },
  uuid: S.Types.UUID,
  ids: [S.Types.UUID],
  numbers: { type: [Number], index: true, validate: (list: number[]) => list.length < 9 },
  dates: [{ type: Date, min: new Date(0) }],
  nested: { a: String, b: { c: Number } },
  single: inner,
  list: { type: [inner], default: undefined },
  map: { type: Map, of: String },
  objects: { type: Map, of: new S({ x: Number }) },
  free: {},
  friend: { type: S.Types.ObjectId, ref: "AdoptFrozen" },
  friends: [{ type: S.Types.ObjectId, ref: () => "AdoptFrozen" }],
  hidden: { type: String, select: false },
}, { timestamps: true, toJSON: { transform: (_doc, json) => json }, collation: { locale: "en" } });
schema.method("greet", () => "hello");
schema.static("byName", () => undefined);
schema.virtual("upper").get(() => "U");
schema.index({ "nested.a": 1 });
schema.pre("save", () => {});
schema.pre(/^find/, () => {});
schema.pre("aggregate", () => {});
schema.post("init", () => {});

const Frozen = mongoose.model<Record<string, unknown>>("AdoptFrozen", schema as never);

const numbers = new Map<object, number>();

/** The same object has the same number in every snapshot, so that a replaced one is seen. */
function numberOf(value: object): number {
  return numbers.get(value) ?? numbers.set(value, numbers.size).size - 1;
}

/** These lead out of the model. Mongoose keeps looked up paths in `subpaths`. */
const ELSEWHERE = [
  "db",
  "base",
  "connection",
  "collection",
  "$__collection",
  "$collection",
  "client",
]
  .concat("_events", "subpaths", "singleNestedPaths", "Promise", "$init")
  .concat("Symbol(mongoose#Model#collection)");

/** Mongoose fills them at the first use. */
const CACHE = /^_(pathsWith|requiredpaths|indexedpaths|defaultToObjectOptionsMap)/;

/** Every own key of what can be reached from a value, prototypes and functions included. */
function snapshot(root: object): string[] {
  const lines: string[] = [];
  const visited = new Set<unknown>();
  const visit = (path: string, value: unknown): void => {
    if (Object(value) !== value) return void lines.push(`${path} = ${String(value)}`);
    const object = value as object;
    lines.push(`${path} = ${typeof value} ${numberOf(object)}`);
    if (visited.has(value) || isLibrary(object)) return;
    visited.add(value);
    for (const key of Reflect.ownKeys(object)) {
      if (ELSEWHERE.includes(String(key)) || CACHE.test(String(key))) continue;
      const { get, set, value: held } = Object.getOwnPropertyDescriptor(object, key) ?? {};
      visit(`${path}.${String(key)}`, get ?? set ?? held);
    }
    if (value instanceof Map) {
      [...value].forEach((pair, at) => visit(`${path}.${at}`, [...pair][1]));
    }
    visit(`${path}.prototype of`, Object.getPrototypeOf(value));
  };
  visit("model", root);
  return lines;
}

const CLASSES: readonly { readonly prototype: object }[] = [
  ...[Object, Array, Map, Set, Function, RegExp, Date],
  ...[mongoose.Model, mongoose.Document, S as { readonly prototype: object }],
];

const LIBRARY = new Set<object>(CLASSES.flatMap((each) => [each, each.prototype]));

function isLibrary(value: object): boolean {
  return LIBRARY.has(value) || value instanceof mongoose.Connection ||
    value instanceof mongoose.Mongoose;
}

function changes(before: readonly string[]): string[] {
  const after = new Set(snapshot(Frozen));
  const gone = before.filter((line) => !after.has(line));
  const known = new Set(before);
  return [...gone.map((line) => `- ${line}`), ...[...after].filter((line) => !known.has(line))];
}

test("adopt() and requests leave the model and its schema as they were", async () => {
  const before = snapshot(Frozen);
  const target = adopt(Frozen, {
    shown: ["name", "nested.a", "list", "single.text", "ids", "map", "friends", "dates"],
    writable: "all",
    rest: {
      route: "/adopt-frozen",
      methods: [all({ sort: ["name"], search: ["name"] }), one(), create(), update(), remove()],
    },
    parts: { list: { methods: [all(), create(), update()] } },
  });
  assertEquals(changes(before), []);
  await using app = await mount([target]);
  assertEquals(changes(before), []);
  const { status, body, text } = await app.post("/adopt-frozen", {
    name: "a",
    list: [{ text: "b", deep: [{ code: "c" }] }],
    single: { text: "t" },
    objects: { k: { x: 1 } },
  });
  assertEquals(status, 201, text);
  const { _id } = body as { _id: string };
  assertEquals((await app.patch(`/adopt-frozen/${_id}`, { name: "b" })).status, 200);
  assertEquals((await app.get(`/adopt-frozen/${_id}/list`)).status, 200);
  assertEquals(changes(before), []);
  assertEquals(before.length > 1000, true);
});
