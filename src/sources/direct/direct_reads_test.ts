import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { TimeBudget } from "../../database/time_budget.ts";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { Selection } from "../../filter/selection.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { planRead } from "./direct_reads.ts";

class Movie extends FrameworkModel {
  static override schemaOptions = { autoIndex: false, autoCreate: false };
  @prop()
  name?: string;
  @arrayProp({ items: String })
  tags?: string[];
}

const model = getModel(Movie, mongoose.createConnection()) as never as Model<unknown>;

/** Whether all reads are direct, or none, for the options of hooks, scopes and clients. */
function isDirect(given: Partial<Selection> = {}, lean = false): boolean {
  const collection = {
    model,
    shape: describeShape(model.schema as Schema),
    selection: { filter: {}, scope: {}, options: {}, projection: {}, ...given },
    conditions: {},
    timeBudget: new TimeBudget(1000),
    maxTimeMS: 1000,
  };
  const [all, one] = (["all", "one"] as const).map((operation) =>
    planRead({ operation, lean }, collection) !== undefined
  );
  assertEquals(all, one);
  return all === true;
}

Deno.test("planRead() plans reads when hooks and scopes give what the driver knows", () => {
  assertEquals(isDirect(), true);
  assertEquals(isDirect({ filter: { name: "Up" } }), true);
  assertEquals(isDirect({ scope: { name: "Up" }, options: { sort: { name: 1 } } }), true);
});

Deno.test("planRead() leaves options to Mongoose that only Mongoose knows", () => {
  for (const options of [{ populate: "other" }, { lean: true }, { lean: false }, { session: {} }]) {
    assertEquals(isDirect({ options }), false);
  }
  assertEquals(isDirect({ options: { lean: true } }, true), true);
});

Deno.test("planRead() leaves projections to Mongoose that the database reads otherwise", () => {
  assertEquals(isDirect({ projection: { name: 1 } }), true);
  for (const projection of [{ tags: { $slice: 1 } }, { "tags.a": 1 }, { "+name": true }]) {
    assertEquals(isDirect({ projection }), false);
  }
});
