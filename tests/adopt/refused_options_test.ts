import { assertThrows } from "@std/assert";
import mongoose from "mongoose";
import { all } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";

const schema = new mongoose.Schema({ name: String, list: [{ text: String }], tags: [String] });

const Model = mongoose.model("AdoptOptions", schema);

const rest = { route: "/adopt-options", methods: [all({ page: { max: 9 } })] };

const usual = { shown: "all", writable: "all", rest };

/** By the problem in the message. */
const CASES: Readonly<Record<string, unknown>> = {
  "its options are no object": undefined,
  'adopt() has no option "show"': { ...usual, show: "all" },
  '"shown" is neither "all" nor a list of paths': { ...usual, shown: "name" },
  '"writable" is neither "all" nor a list of paths': { ...usual, writable: [1] },
  '"virtuals" is no list of names': { ...usual, virtuals: "all" },
  '"rest" has no route': { ...usual, rest: [] },
  '"rest" has no list of "methods"': { ...usual, rest: { route: "/a" } },
  '"rest" is neither an object nor a list of objects': { ...usual, rest: "/a" },
  '"rest" has "getConnection", and the model has its own schema and connection': {
    ...usual,
    rest: { ...rest, getConnection: () => mongoose.connection },
  },
  '"rest" has "schemaOptions", and the model has its own schema and connection': {
    ...usual,
    rest: [rest, { ...rest, schemaOptions: {} }],
  },
  '"parts" is no object': { ...usual, parts: [] },
  '"parts" names "tags", which holds no embedded objects': { ...usual, parts: { tags: rest } },
  '"parts" names "lists", which holds no embedded objects': { ...usual, parts: { lists: rest } },
  '"parts.list" has no route': { ...usual, parts: { list: [] } },
};

for (const [problem, options] of Object.entries(CASES)) {
  test(`adopt() refuses options: ${problem}`, () => {
    const message = `Cannot adopt "AdoptOptions": ${problem}`;
    assertThrows(() => adopt(Model, options as never), TypeError, message);
  });
}

test("adopt() refuses what is no model of this copy of Mongoose, and a second adoption", () => {
  const refused = (model: unknown, message: string) =>
    assertThrows(() => adopt(model as never, usual as never), TypeError, message);
  refused(schema, "Cannot adopt what is given: it is no Mongoose model");
  refused(undefined, "Cannot adopt what is given: it is no Mongoose model");
  const foreign = { modelName: "Foreign", schema, db: { base: { version: "8.1.0" } } };
  refused(foreign, 'Cannot adopt "Foreign": it belongs to another copy of Mongoose (8.1.0)');
  adopt(Model, usual as never);
  refused(Model, 'Cannot adopt "AdoptOptions": it is adopted already: give "rest" a list');
});
