import { assertEquals, assertThrows } from "@std/assert";
import type { Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  define,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  type ReadOnly,
  type Ref,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { documentOf } from "../../support/documented.ts";
import { mount } from "../../support/support.ts";

function modelWith(options: object): ModelClass {
  @rest({ route: "/notes", methods: [all()] })
  class Note extends FrameworkModel {
    @prop(options as never)
    by?: string;
  }
  return Note;
}

/** What is wrong with a stamp, by the options of its field. */
const WRONG: [string, object, string][] = [
  [
    "another word",
    { stamp: "removedBy" },
    `its field "by" has a stamp other than createdBy or updatedBy`,
  ],
  ["no word", { stamp: true }, `its field "by" has a stamp other than createdBy or updatedBy`],
  ["a date", { type: Date, stamp: "createdBy" }, "not a Date"],
  ["a rule", { stamp: "createdBy", required: true }, 'cannot have "required"'],
  ["a default", { stamp: "updatedBy", default: "x" }, 'cannot have "default"'],
  ["a field that clients set", { stamp: "createdBy", readonly: false }, "so clients cannot set it"],
];

test("a wrong stamp fails the start", async (t) => {
  for (const [name, options, message] of WRONG) {
    await t.step(name, () => {
      const models = [modelWith(options)];
      assertThrows(() => Framework.initialize({ models, actor: () => "x" }), TypeError, message);
    });
  }
});

test("a stamp needs the option actor, also in an embedded class", () => {
  class Line extends FrameworkModel {
    @prop({ stamp: "createdBy" })
    madeBy?: string;
  }
  @rest({ route: "/orders", methods: [all()] })
  class Order extends FrameworkModel {
    @arrayProp({ items: Line, embedded: true })
    lines?: Line[];
  }
  const models = [Order];
  const needs = 'Cannot mount "Line": its field "madeBy" has a stamp';
  assertThrows(() => Framework.initialize({ models }), TypeError, needs);
  Framework.initialize({ models, actor: () => undefined });
  const actor = "ann" as never;
  assertThrows(
    () => Framework.initialize({ models, actor }),
    TypeError,
    '"actor" is not a function',
  );
});

class Person extends FrameworkModel {
  declare name?: string;
}
define(Person, { fields: { name: {} }, rest: { route: "/persons", methods: [all(), one()] } });

class Letter extends FrameworkModel {
  declare readonly by?: ReadOnly<Ref<Person>>;
  declare text?: string;
}
define(Letter, {
  fields: { by: { ref: Person, stamp: "createdBy" }, text: {} },
  rest: {
    route: "/letters",
    methods: [all({ populate: { by: { always: true } } }), create(), update()],
  },
});

test("a stamp refers to the entity of the sender, and is in no schema of a body", async () => {
  const ids: Types.ObjectId[] = [];
  await using app = await mount([Person, Letter], { actor: () => ids[0] });
  ids.push((await getModel(Person).create({ name: "Ann" }))._id as never);
  const { body } = await app.post("/letters", { text: "a", by: String(ids[0]).replace(/.$/, "0") });
  assertEquals(body.by, String(ids[0]));
  const [shown] = await app.read<{ by: { name: string } }[]>("/letters");
  assertEquals(shown?.by.name, "Ann");
  assertEquals((await getModel(Letter).findOne().lean())?.by, ids[0] as never);
  const { schemas } = await documentOf([Person, Letter]);
  const fieldsOf = (name: string) => Object.keys(Object(schemas[name]).properties);
  assertEquals(fieldsOf("Letter").includes("by"), true);
  const bodies = Object.keys(schemas).filter((name) => /^Letter(New|Patch)/.test(name));
  assertEquals(bodies.map((name) => [name, fieldsOf(name)]), [
    ["LetterNew", ["text"]],
    ["LetterPatch", ["text"]],
  ]);
});
