import { assertEquals, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  Framework,
  FrameworkModel,
  getModel,
  type Method,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

class Text extends FrameworkModel {
  @prop()
  text?: string;
}

type Configure = (schema: Schema) => unknown;

/** Makes a class, of which another class can have references, with something of the application in its schema. */
function declare(configure: Configure, methods: readonly Method<object>[]): ModelClass[] {
  class Inner extends Text {
    static override configure(schema: Schema): void {
      configure(schema);
    }
  }
  @rest({ route: "/items", methods: [all(), one(), ...methods] as never })
  class Item extends Inner {}
  @rest({ route: "/boxes", methods: [one()] })
  class Box extends FrameworkModel {
    @rest({ methods: [one(), ...methods] as never })
    @arrayProp({ items: Inner })
    inners?: Ref<Inner>[];
    static override schemaOptions = { autoIndex: false };
  }
  return [Item, Box];
}

const ofMany = (name: string): Configure => (schema) => schema.pre(name as "updateMany", () => {});
const start = (target: ModelClass | undefined) =>
  Framework.initialize({ models: target === undefined ? [] : [target] });
const many = { max: false } as const;
const WRITES = [
  updateAll<Text>({ ...many, fields: ["text"], atomic: false }),
  removeAll(many),
] as Method<object>[];

Deno.test("middleware of updateMany() and deleteMany() fails the start with operations on several", () => {
  for (const name of ["updateMany", "deleteMany"]) {
    for (const [index, target] of declare(ofMany(name), WRITES.slice(1)).entries()) {
      const message = `Cannot mount "${["Item", "Inner"][index]}": its middleware of ${name}() ` +
        "would not bind removeAll(): use hooks, a scope, or middleware of documents";
      assertThrows(() => start(target), TypeError, message);
    }
    const [target] = declare(ofMany(name), WRITES.slice(0, 1));
    assertThrows(() => start(target), TypeError, `${name}() would not bind updateAll()`);
  }
});

Deno.test("middleware that also runs for find() starts, and middleware that never runs is logged", () => {
  using log = stub(console, "warn");
  const same = () => {};
  const both = (schema: Schema) => schema.pre(["find", "updateMany", "deleteMany"], same);
  for (const configure of [both, (schema: Schema) => schema.pre(/^find/, same)]) {
    for (const target of declare(configure, WRITES)) start(target);
  }
  assertEquals(log.calls, []);
  const [item] = declare((schema) => {
    for (const name of ["deleteMany", "findOneAndUpdate"]) ofMany(name)(schema);
    schema.post("findOneAndDelete", () => {});
  }, [update(), remove()] as Method<object>[]);
  for (let starts = 0; starts < 2; starts++) start(item);
  assertEquals(log.calls.map(({ args }) => args), [[
    '"Item" has middleware of deleteMany(), findOneAndUpdate(), findOneAndDelete(), which no request runs: ' +
    "use hooks, or middleware of documents",
  ]]);
});

const REPLACED: readonly [name: string, Configure][] = [
  ["save", (schema) => schema.method("save", () => {})],
  ["toObject", (schema) => schema.method("toObject", () => ({}))],
  ["$set", (schema) => schema.method("$set", () => {})],
  ["find", (schema) => schema.static("find", () => [])],
  [
    "deleteOne",
    (schema) => schema.add({ inner: new mongoose.Schema({}).method("deleteOne", () => {}) }),
  ],
  ["updateMany", (schema) => schema.plugin((each) => void each.static("updateMany", () => {}))],
];

Deno.test("methods and plugins that replace what reads and saves entities fail the start", () => {
  for (const [name, configure] of REPLACED) {
    const [target] = declare(configure, []);
    assertThrows(() => start(target), TypeError, `replaces "${name}" of the`);
  }
  class Own extends FrameworkModel {
    validate(): boolean {
      return true;
    }
  }
  @rest({ route: "/own", methods: [all()] })
  class Item extends Own {}
  assertThrows(() => start(Item), TypeError, 'member "validate" has the name of a member');
});

test("a plugin of a connection cannot replace them either, and the connection can be used on", async () => {
  const [target] = declare(() => {}, []) as [ModelClass];
  await using app = await mount([target]);
  const connection = app.database.connection.useDb("others");
  connection.plugin((schema) => void schema.method("save", () => {}));
  for (let tries = 0; tries < 2; tries++) {
    const message = 'Cannot compile "Item": a method or plugin replaces "save" of the document';
    assertThrows(() => getModel(target, connection), TypeError, message);
  }
});

test("methods that replace other members of documents are called, and requests take the usual way", async () => {
  const equal: string[] = [];
  const [target] = declare((schema) => {
    schema.method("equals", () => equal.push("equals") > 0);
    schema.method("toJSON", () => ({ text: "own" }));
  }, []) as [typeof Text];
  await using app = await mount([target]);
  const made = await getModel(target).create({ text: "a" });
  assertEquals((await app.read(`/items/${made._id}`)).text, "own");
  assertEquals([made.equals(made), equal], [true, ["equals"]]);
});
