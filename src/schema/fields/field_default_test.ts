import { assert, assertEquals, assertNotStrictEquals } from "@std/assert";
import mongoose from "mongoose";
import { clearedValue, defaultIn, fieldDefault } from "./field_default.ts";
import { describeShape } from "./shape.ts";
import type { FieldShape } from "./shape.ts";

const { Mixed } = mongoose.Schema.Types;

const SHAPE = describeShape(
  new mongoose.Schema({
    none: String,
    rank: { type: Number, default: "5" },
    since: { type: Date, default: 0 },
    now: { type: Date, default: Date.now },
    computed: { type: String, default: () => "x" },
    set: { type: String, default: "x", set: (text: string) => text },
    list: [Number],
    filled: { type: [Number], default: [1] },
    free: { type: Mixed, default: "x" },
    data: { type: Mixed, default: { a: [1] } },
    must: { type: Number, default: 1, required: true },
  }),
);

function field(name: string): FieldShape {
  const found = SHAPE.fields.get(name);
  assert(found);
  return found;
}

const KINDS: Record<string, string> = {
  none: "nothing",
  rank: "constant 5",
  now: "independent Date",
  computed: "dependent",
  set: "dependent",
  list: "constant []",
  filled: "dependent",
  free: 'constant "x"',
  data: "constant",
};

for (const [name, expected] of Object.entries(KINDS)) {
  Deno.test(`fieldDefault() tells what stands for "${name}": ${expected}`, () => {
    const { kind, make } = fieldDefault(field(name));
    const made = make?.();
    const text = made instanceof Date ? "Date" : JSON.stringify(made);
    assertEquals(kind === "independent" || make ? `${kind} ${text}` : kind, expected);
  });
}

Deno.test("fieldDefault() casts a constant", () => {
  assertEquals(fieldDefault(field("since")).make?.(), new Date(0));
});

Deno.test("defaultIn() gives each object a copy of its own", () => {
  const [one, other] = [{}, {}].map((each) => defaultIn(each, field("data")));
  assertEquals([one, other], [{ a: [1] }, { a: [1] }]);
  assertNotStrictEquals(one, other);
});

Deno.test("clearedValue() gives nothing for a required field, and an empty array", () => {
  assertEquals(clearedValue({}, field("must")), undefined);
  assertEquals(clearedValue({}, field("filled")), []);
  assertEquals(clearedValue({}, field("rank")), 5);
});
