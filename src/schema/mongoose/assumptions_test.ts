// Runs alone: it changes Mongoose.
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../build_schema.ts";
import { failedAssumptions } from "./assumptions.ts";

/** Runs something with a prototype of Mongoose changed. */
function changing<T>(prototype: object, changes: PropertyDescriptorMap, run: () => T): T {
  const before = Object.getOwnPropertyDescriptors(prototype);
  Object.defineProperties(prototype, changes);
  try {
    return run();
  } finally {
    for (const name of Object.keys(changes)) {
      const own = before[name];
      if (own === undefined) Reflect.deleteProperty(prototype, name);
      else Object.defineProperty(prototype, name, own);
    }
  }
}

/** A member that Mongoose sets and nobody finds. */
const HIDDEN: PropertyDescriptor = { configurable: true, get: () => undefined, set: () => {} };

/** A member that does nothing. */
const IDLE: PropertyDescriptor = { configurable: true, writable: true, value: () => {} };

const { Document, Model, Query, Schema: MongooseSchema, SchemaType } = mongoose;

const ALL_KNOWN = { needed: [], direct: [] };

// This test runs first, because Mongoose is checked only once.
Deno.test("buildSchema() refuses a Mongoose whose queries cast conditions in an unknown way", () => {
  class Movie extends FrameworkModel {}
  const build = () => buildSchema(Movie);
  changing(Query.prototype, { _castConditions: IDLE }, () => {
    const { message } = assertThrows(build, TypeError);
    assertStringIncludes(message, `Cannot use Mongoose ${mongoose.version}: `);
    assertStringIncludes(message, "does not recognise its casts of conditions");
  });
  build();
});

Deno.test("failedAssumptions() recognises the Mongoose that is here", () => {
  assertEquals(failedAssumptions(), ALL_KNOWN);
});

Deno.test("failedAssumptions() runs no plugin of the host", () => {
  let runs = 0;
  mongoose.plugin((schema: Schema) => {
    runs++;
    schema.pre("save", () => {});
  });
  try {
    assertEquals([failedAssumptions(), runs], [ALL_KNOWN, 0]);
  } finally {
    (mongoose as unknown as { plugins: unknown[] }).plugins.pop();
  }
});

/** The prototype of what documents hold besides their values. */
const INTERNAL = Object.getPrototypeOf(
  Reflect.get(new (mongoose.model("Internal", new MongooseSchema()))(), "$__"),
);

const NEEDED: [string, object, string][] = [
  ["casts of conditions", Query.prototype, "cast"],
  ["casts of updates", Query.prototype, "_castUpdate"],
  ["values set without casts", Document.prototype, "$__setValue"],
  ["immutable and required fields", SchemaType.prototype, "$immutable"],
  ["names of timestamps", MongooseSchema.prototype, "$timestamps"],
  ["states of paths", INTERNAL, "activePaths"],
  ["middleware of documents", Model.prototype, "$__middleware"],
];

for (const [name, prototype, member] of NEEDED) {
  Deno.test(`failedAssumptions() misses "${name}" when "${member}" is another`, () => {
    const change = /^_|cast/.test(member) || member === "$__setValue" ? IDLE : HIDDEN;
    const { needed } = changing(prototype, { [member]: change }, failedAssumptions);
    assertEquals(needed.includes(name), true, `${needed}`);
  });
}

const DIRECT: [string, object, string][] = [
  ["defaults of fields", SchemaType.prototype, "defaultValue"],
  ["setters and casts of fields", SchemaType.prototype, "_castFunction"],
  ["validators of fields", MongooseSchema.Types.String.prototype, "enumValidator"],
  ["queued methods of schemas", MongooseSchema.prototype, "callQueue"],
];

for (const [name, prototype, member] of DIRECT) {
  Deno.test(`failedAssumptions() misses "${name}" when "${member}" is hidden`, () => {
    const { direct } = changing(prototype, { [member]: HIDDEN }, failedAssumptions);
    assertEquals(direct.includes(name), true, `${direct}`);
  });
}

Deno.test("failedAssumptions() misses middleware when Mongoose does not mark its own", () => {
  const pre = MongooseSchema.prototype.pre as (...args: unknown[]) => unknown;
  const unmarked = function (this: Schema, ...args: unknown[]) {
    const fn = args.findLast((each) => typeof each === "function") as () => void;
    return pre.apply(this, args.map((each) => each === fn ? fn.bind(this) : each));
  };
  const changes = { pre: { ...IDLE, value: unmarked } };
  const { direct } = changing(MongooseSchema.prototype, changes, failedAssumptions);
  assertEquals(direct, ["middleware of schemas"]);
});
