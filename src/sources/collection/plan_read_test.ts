import { assert, assertEquals, assertNotEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { rest } from "../../declare/decorators/rest.ts";
import type { Hooks } from "../../declare/hooks/hooks.ts";
import { all } from "../../declare/operations/methods.ts";
import { and, onlyIf } from "../../declare/hooks/compose.ts";
import { FrameworkModel, type ModelClass } from "../../declare/model/framework_model.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { modelSupport } from "./model_support.ts";
import { downgradePlan, planRead } from "./plan_read.ts";

const QUIET = { autoIndex: false, autoCreate: false };
const connection = mongoose.createConnection();

class Inner extends FrameworkModel {
  static override schemaOptions = QUIET;
  @prop()
  text?: string;
}

class Outer extends FrameworkModel {
  static override schemaOptions = QUIET;
  @prop()
  name?: string;
  @arrayProp({ items: Inner, embedded: true })
  list?: Inner[];
}

class Unselected extends Outer {
  @prop({ select: false })
  secret?: string;
}

class Apart extends Outer {
  @rest({ methods: [all()] })
  @arrayProp({ items: Inner, embedded: true, apart: true })
  aside?: Inner[];
}

class Stamped extends Outer {
  static override schemaOptions = { ...QUIET, timestamps: true };
}

function configured(configure: (schema: Schema) => void): ModelClass {
  class Configured extends Outer {
    static override configure = configure;
  }
  return Configured;
}

const MODELS: Readonly<Record<string, ModelClass>> = {
  Outer,
  Unselected,
  Apart,
  Stamped,
  middleware: configured((schema) => void schema.pre("find", () => {})),
  saves: configured((schema) => void schema.pre("save", () => {})),
  json: configured((schema) => void schema.set("toJSON", { virtuals: true })),
  collation: configured((schema) => void schema.set("collation", { locale: "en" })),
  kinds: configured((schema) => void schema.discriminator("Kind", new mongoose.Schema({}))),
};

const hook = () => ({});
const HOOKS: readonly Hooks<object>[] = [{ fetch: hook }, { postFetch: hook }, { preSend: hook }]
  .reduce<Hooks<object>[]>((all, each) => [...all, ...all.map((one) => ({ ...one, ...each }))], [
    {},
    { lean: true },
  ]);

const OPTIONS = [{}, { lean: true }, { lean: false }, { populate: "x" }, { sort: { name: 1 } }];
const PROJECTIONS: Case["projection"][] = [{}, { name: 1 }, { list: { $slice: 1 } }, {
  "+secret": true,
}];

interface Case {
  readonly hooks: Hooks<object>;
  readonly forChange: boolean;
  readonly select: readonly string[] | undefined;
  readonly given: object;
  readonly projection: Readonly<Record<string, unknown>>;
  readonly target: ModelClass;
}

/** All combinations of hooks, options, projections, selected fields and models. */
function* cases(): Generator<Case> {
  for (const target of Object.values(MODELS)) {
    for (const hooks of HOOKS) {
      for (const forChange of [false, true]) {
        for (const select of forChange ? [undefined] : [undefined, ["name"]]) {
          for (const given of OPTIONS) {
            for (const projection of PROJECTIONS) {
              yield { hooks, forChange, select, given, projection, target };
            }
          }
        }
      }
    }
  }
}

function open({ hooks, given, projection, target }: Case) {
  const model = getModel(target, connection) as never as Model<unknown>;
  const options = { ...given, ...hooks.lean === true && { lean: true } };
  return {
    model,
    shape: describeShape(model.schema as Schema),
    selection: { options, projection },
  };
}

function name(each: Case): string {
  return JSON.stringify({ ...each, target: each.target.name });
}

function planned(each: Case): keyof typeof RANK {
  const { model, shape, selection } = open(each);
  const { needsMongoose } = modelSupport(model, shape);
  const plan = planRead({ ...each, isEmbedded: false, shape, needsMongoose });
  const lowered = downgradePlan(plan, { ...each, selection, shape });
  return lowered.kind === "bytes" ? "bytes" : lowered.by;
}

/** How often each plan is made of all combinations of a model. */
function countPlans(target: ModelClass): string {
  const counts: Record<string, number> = { bytes: 0, driver: 0, mongoose: 0, fetch: 0 };
  for (const each of cases()) {
    if (each.target === target) counts[planned(each)] = (counts[planned(each)] ?? 0) + 1;
  }
  return Object.entries(counts).map(([plan, count]) => `${plan} ${count}`).join(", ");
}

const RANK = { bytes: 0, driver: 1, mongoose: 2, fetch: 3 };

Deno.test("planRead() gives bytes to no level whose entities a hook gets, whatever the request asks", () => {
  for (const each of cases()) {
    const isSeen = Object.keys(each.hooks).some((name) => name !== "lean");
    if (isSeen || each.forChange) assertNotEquals(planned(each), "bytes", name(each));
    assertEquals(planned(each) === "fetch", each.hooks.fetch !== undefined, name(each));
  }
});

Deno.test("downgradePlan() raises no plan", () => {
  for (const each of cases()) {
    const usual = planned({ ...each, given: {}, projection: {}, select: undefined });
    assert(RANK[planned(each)] >= RANK[usual], name(each));
  }
});

/** How often each plan is made of the combinations of a model: as the conditions did that the plans have replaced. */
const COUNTS = [
  "Outer: bytes 6, driver 220, mongoose 254, fetch 480",
  "Unselected: bytes 6, driver 220, mongoose 254, fetch 480",
  "Apart: bytes 8, driver 132, mongoose 340, fetch 480",
  "Stamped: bytes 6, driver 220, mongoose 254, fetch 480",
  "middleware: bytes 0, driver 0, mongoose 480, fetch 480",
  "saves: bytes 6, driver 220, mongoose 254, fetch 480",
  "json: bytes 0, driver 0, mongoose 480, fetch 480",
  "collation: bytes 0, driver 0, mongoose 480, fetch 480",
  "kinds: bytes 0, driver 0, mongoose 480, fetch 480",
];

Deno.test("planRead() and downgradePlan() plan each model as before", () => {
  assertEquals(
    Object.entries(MODELS).map(([model, target]) => `${model}: ${countPlans(target)}`),
    COUNTS,
  );
});

Deno.test("planRead() reads bytes when all hooks of entities name their fields", () => {
  const shape = describeShape(getModel(Outer, connection).schema);
  const facts = { forChange: false, isEmbedded: false, shape, needsMongoose: undefined };
  const named = onlyIf<Outer, "name">(["name"], () => true);
  const whole = onlyIf<Outer>(() => true);
  const planned = (hooks: object) => {
    const plan = planRead({ ...facts, hooks: hooks as Hooks<object> });
    return plan.kind === "bytes" ? plan.runsHooks : plan.by;
  };
  assertEquals(planned({}), false);
  assertEquals(planned({ postFetch: named }), true);
  assertEquals(
    planned({ preFetch: () => true, postFetch: and(named, named), preSend: named }),
    true,
  );
  for (const hooks of [{ postFetch: whole }, { postFetch: named, preSend: whole }]) {
    assertEquals(planned(hooks), "driver");
  }
  assertEquals(planned({ postFetch: and(named, whole) }), "driver");
  assertEquals(planned({ postFetch: named, lean: true }), "driver");
  assertEquals(planned({ postFetch: named, fetch: () => [] }), "fetch");
});
