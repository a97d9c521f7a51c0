import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { TimeBudget } from "../../store/time_budget.ts";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel, type ModelClass } from "../../declare/model/framework_model.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { planStatement } from "./write_stored.ts";
import type { WriteCommand } from "../source.ts";

const QUIET = { autoIndex: false, autoCreate: false };
const connection = mongoose.createConnection();

class Note extends FrameworkModel {
  static override schemaOptions = QUIET;
  @prop({ maxLength: 3 })
  text?: string;
  @prop({ unique: true })
  slug?: string;
  @prop({ immutable: true })
  kind?: string;
  @arrayProp({ items: String })
  tags?: string[];
}

class Unselected extends Note {
  @prop({ select: false })
  secret?: string;
}

function configured(configure: (schema: Schema) => void): ModelClass {
  class Configured extends Note {
    static override configure = configure;
  }
  return Configured;
}

const MODELS: Readonly<Record<string, ModelClass>> = {
  Note,
  Unselected,
  saves: configured((schema) => void schema.pre("save", () => {})),
  finds: configured((schema) => void schema.pre("find", () => {})),
  removes: configured((schema) => void schema.pre("deleteOne", () => {})),
  setters: configured((schema) => void schema.path("text").set((text: string) => text.trim())),
  unversioned: configured((schema) => void schema.set("versionKey", false)),
  kinds: configured((schema) => void schema.discriminator("Kind", new mongoose.Schema({}))),
};

const OPERATIONS: readonly OperationName[] = ["create", "update", "updateAll", "replace", "remove"];
const BODIES = [{ text: "a" }, { text: "long" }, { tags: ["a"] }, { kind: "a" }, { nothing: 1 }];
const SCOPES = [{}, { slug: "a" }, { text: { $ne: "a" } }];
const OPTIONS = [{}, { collation: { locale: "en" } }];
const PROJECTIONS = [{}, { text: 1 }];

interface Case {
  readonly target: ModelClass;
  readonly change: WriteCommand;
  readonly scope: Readonly<Record<string, unknown>>;
  readonly options: Record<string, unknown>;
  readonly projection: Readonly<Record<string, unknown>>;
  readonly linked: boolean;
}

function* changes(): Generator<WriteCommand> {
  for (const hooks of [{}, { preSave: (_req: unknown, note: object) => note }]) {
    for (const operation of OPERATIONS) {
      for (const body of BODIES) {
        for (const minimal of [false, true]) {
          yield { hooks, operation, body, minimal };
          if (operation === "create") yield { hooks, operation, bodies: [body], minimal };
        }
      }
    }
  }
}

/** All combinations of changes, models, scopes, options, projections and parents. */
function* cases(target: ModelClass): Generator<Case> {
  for (const change of changes()) {
    for (const scope of SCOPES) {
      for (const options of OPTIONS) {
        for (const projection of PROJECTIONS) {
          for (const linked of [false, true]) {
            yield { target, change, scope, options, projection, linked };
          }
        }
      }
    }
  }
}

function open({ target, scope, options, projection, linked }: Case) {
  const model = getModel(target, connection) as never as Model<unknown>;
  return {
    model,
    shape: describeShape(model.schema as Schema),
    selection: { filter: {}, scope, options, projection },
    name: { _id: new mongoose.Types.ObjectId() },
    conditions: scope,
    timeBudget: new TimeBudget(1000),
    maxTimeMS: 1000,
    linked,
  };
}

async function kindOf(each: Case): Promise<string> {
  return (await planStatement(each.change, open(each))).kind;
}

Deno.test("planStatement() plans no statement for a change whose entities a hook gets", async () => {
  for (const target of Object.values(MODELS)) {
    for (const each of cases(target)) {
      if (each.change.hooks.preSave !== undefined) assertEquals(await kindOf(each), "documents");
    }
  }
});

Deno.test("planStatement() plans no statement that hooks, a scope or a parent bind in another way", async () => {
  for (const each of cases(Note)) {
    const { change: { operation }, scope, options, linked } = each;
    const isNew = operation === "create" || operation === "replace";
    const isBound = Object.keys(options).length > 0 || isNew && Object.keys(scope).length > 0 ||
      linked && (operation === "create" || operation === "remove");
    if (isBound) assertEquals(await kindOf(each), "documents", JSON.stringify(each.change));
  }
});

/** The number of statements among the combinations of each operation. The decision before this one planned the same. */
const STATEMENTS = { create: 64, remove: 300, replace: 32, update: 40, updateAll: 192 };

Deno.test("planStatement() plans a statement for as many changes as before", async () => {
  const counts: Record<string, number> = {};
  for (const target of Object.values(MODELS)) {
    for (const each of cases(target)) {
      const { operation } = each.change;
      if (await kindOf(each) === "statement") counts[operation] = (counts[operation] ?? 0) + 1;
    }
  }
  assertEquals(counts, STATEMENTS);
});
