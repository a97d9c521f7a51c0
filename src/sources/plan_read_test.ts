import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { TimeBudget } from "../database/time_budget.ts";
import { arrayProp, prop } from "../declare/decorators/prop.ts";
import { rest } from "../declare/decorators/rest.ts";
import type { Hooks } from "../declare/hooks/hooks.ts";
import { all } from "../declare/operations/methods.ts";
import { FrameworkModel, type ModelClass } from "../declare/model/framework_model.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { getModel } from "../schema/get_model.ts";
import { planEntities, planRead as planDirect } from "./direct/direct_reads.ts";
import { directSupport } from "./direct/direct_support.ts";
import { downgradePlan, entityHook, planRead } from "./plan_read.ts";

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

/** Makes a class whose schema `configure` has changed. */
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
    selection: { filter: {}, scope: {}, options, projection },
    conditions: {},
    timeBudget: new TimeBudget(1000),
    maxTimeMS: 1000,
  };
}

function planned(each: Case): string {
  const { model, shape, selection } = open(each);
  const { needsMongoose } = directSupport(model, shape);
  const plan = planRead({ ...each, isEmbedded: false, shape, needsMongoose });
  const lowered = downgradePlan(plan, { ...each, selection, shape });
  return lowered.kind === "bytes" ? "bytes" : lowered.by;
}

function before(each: Case): string {
  const { hooks, forChange, select } = each;
  const collection = open(each);
  const read = { operation: "all", select } as const;
  const isDirect = !forChange && entityHook(hooks) === undefined;
  if (isDirect && planDirect(read, collection) !== undefined) return "bytes";
  if (hooks.fetch !== undefined) return "fetch";
  const lean = (collection.selection.options as { lean?: boolean }).lean === true && !forChange;
  const plan = planEntities({ operation: "all", lean, forChange, page: undefined }, collection);
  return plan === undefined ? "mongoose" : "driver";
}

Deno.test("planRead() and downgradePlan() decide as the conditions that they replace", () => {
  const counts: Record<string, number> = {};
  for (const each of cases()) {
    const plan = planned(each);
    counts[plan] = (counts[plan] ?? 0) + 1;
    assertEquals(plan, before(each), JSON.stringify({ ...each, target: each.target.name }));
  }
  assertEquals(Object.keys(counts).sort(), ["bytes", "driver", "fetch", "mongoose"]);
});
