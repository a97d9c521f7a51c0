import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { TimeBudget } from "../../database/time_budget.ts";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { Selection } from "../../filter/selection.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { planDirect } from "./direct_plan.ts";
import type { DirectRequest } from "./direct_plan.ts";

class Movie extends FrameworkModel {
  static override schemaOptions = { autoIndex: false, autoCreate: false };
  @prop()
  name?: string;
  @arrayProp({ items: String })
  tags?: string[];
}

const OPERATIONS = ["all", "one", "create", "update", "remove"] as const;
const EVERY = OPERATIONS.join(" ");
const READS = "all one";

const model = getModel(Movie, mongoose.createConnection()) as never as Model<unknown>;
const name = { _id: new mongoose.Types.ObjectId() };

/** The plans of all operations, for the options of hooks, scopes and clients. */
function planned(
  given: Partial<Selection & { linked: boolean }> = {},
  request: Partial<DirectRequest> = {},
): string {
  const { linked = false, ...selected } = given;
  const collection = {
    model,
    shape: describeShape(model.schema as Schema),
    selection: { filter: {}, scope: {}, options: {}, projection: {}, ...selected },
    conditions: {},
    timeBudget: new TimeBudget(1000),
    maxTimeMS: 1000,
    linked,
  };
  const body = { name: "Up" };
  return OPERATIONS.filter((operation) =>
    planDirect({ operation, name, body, ...request }, collection) !== undefined
  ).join(" ");
}

Deno.test("planDirect() plans every operation when a filter is all that hooks give", () => {
  assertEquals(planned(), EVERY);
  assertEquals(planned({ filter: { name: "Up" } }), EVERY);
});

Deno.test("planDirect() leaves writes to documents that a scope or options bind", () => {
  assertEquals(planned({ scope: { name: "Up" } }), `${READS} remove`);
  assertEquals(planned({ options: { sort: { name: 1 } } }), READS);
});

Deno.test("planDirect() leaves options to Mongoose that only Mongoose knows", () => {
  for (const options of [{ populate: "other" }, { lean: true }, { lean: false }, { session: {} }]) {
    assertEquals(planned({ options }), "");
  }
  assertEquals(planned({ options: { lean: true } }, { lean: true }), READS);
});

Deno.test("planDirect() leaves projections to Mongoose that the database reads otherwise", () => {
  assertEquals(planned({ projection: { name: 1 } }), `${READS} remove`);
  for (const projection of [{ tags: { $slice: 1 } }, { "tags.a": 1 }, { "+name": true }]) {
    assertEquals(planned({ projection }), "remove");
  }
});

Deno.test("planDirect() leaves bodies to documents that are not flat, valid, or replace an array", () => {
  assertEquals(planned({}, { body: { tags: ["a"] } }), "all one create remove");
  assertEquals(planned({}, { body: { name: null } }), `${READS} remove`);
  assertEquals(planned({}, { body: { name: { a: 1 } } }), `${READS} remove`);
});

Deno.test("planDirect() leaves to documents what is written together with a reference", () => {
  assertEquals(planned({ linked: true }), "all one update");
});
