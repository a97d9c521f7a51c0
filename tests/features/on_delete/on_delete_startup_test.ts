import { assert, assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
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
  type Ref,
  remove,
  rest,
} from "../../../mod.ts";
import { openDatabase } from "../../harness/database.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, NOBODY } from "../../support/support.ts";
import { countOf, serveAll } from "./projects.ts";

@rest({ route: "/things", methods: [one(), create(), remove()] })
class Thing extends FrameworkModel {}

type Field = (_value: undefined, context: ClassFieldDecoratorContext) => void;

/** Returns a class whose field has the given options, as a value or as a list. */
function modelWith(options: object, isList = false): ModelClass {
  const field = (isList ? arrayProp(options as never) : prop(options as never)) as Field;
  @rest({ route: "/holders", methods: [all()] })
  class Holder extends FrameworkModel {
    @field
    thing?: string;
  }
  return Holder;
}

/** Returns a class that embeds a class whose field has the given options. */
function modelAround(options: object, holder: "type" | "items" | "of" = "type"): ModelClass {
  class Part extends FrameworkModel {
    @prop({ ref: Thing, ...options } as never)
    thing?: Ref<Thing>;
  }
  if (holder === "type") return modelWith({ type: Part });
  return holder === "of"
    ? modelWith({ type: Map, of: Part })
    : modelWith({ items: Part, embedded: true }, true);
}

/** Returns a class with a kind that has a field. */
function modelWithKind(field: object, { embedded = false } = {}): ModelClass {
  class Base extends FrameworkModel {
    @prop()
    name?: string;
    static override configure(schema: mongoose.Schema): void {
      const kind = new mongoose.Schema({ own: field } as mongoose.SchemaDefinition);
      schema.discriminator(`Kind${crypto.randomUUID()}`, kind);
    }
  }
  @rest({ route: "/holders", methods: [all()] })
  class Holder extends Base {}
  return embedded ? modelWith({ items: Base, embedded: true }, true) : Holder;
}

const ref = () => Thing;

const OF_KIND = { type: mongoose.Schema.Types.ObjectId, ref: "Thing", onDelete: "restrict" };

/** The problems of rules, by the classes that declare them. */
const PROBLEMS: [string, () => ModelClass, string][] = [
  ["another word", () => modelWith({ ref, onDelete: "remove" }), '"onDelete" other than restrict'],
  [
    "another cascade",
    () => modelWith({ ref, onDelete: { cascade: "now" } }),
    "other than restrict",
  ],
  [
    "a cascade beside another word",
    () => modelWith({ ref, onDelete: { cascade: "forGood", unset: true } }),
    "other than restrict",
  ],
  [
    "a list that cascades for good",
    () => modelWith({ items: Thing, onDelete: { cascade: "forGood" } }, true),
    '"onDelete" other than restrict, unset, keep',
  ],
  [
    "a part that cascades for good",
    () => modelAround({ onDelete: { cascade: "forGood" } }),
    '"cascade" cannot remove',
  ],
  ["true", () => modelWith({ ref, onDelete: true }), '"onDelete" other than restrict'],
  ["no reference", () => modelWith({ onDelete: "unset" }), '"onDelete" and is not a reference'],
  ["texts", () => modelWith({ items: String, onDelete: "unset" }, true), "is not a reference"],
  [
    "embedded",
    () => modelWith({ items: Thing, embedded: true, onDelete: "unset" }, true),
    "is not a reference",
  ],
  [
    "a list that cascades",
    () => modelWith({ items: Thing, onDelete: "cascade" }, true),
    '"onDelete" other than restrict, unset, keep',
  ],
  [
    "a required reference that is unset",
    () => modelWith({ ref, required: true, onDelete: "unset" }),
    'is required, so "onDelete" cannot be "unset"',
  ],
  ["a Map", () => modelWith({ type: Map, of: String, ref, onDelete: "unset" }), "is a Map"],
  ["a part that cascades", () => modelAround({ onDelete: "cascade" }), '"cascade" cannot remove'],
  [
    "a part of a list that cascades",
    () => modelAround({ onDelete: "cascade" }, "items"),
    '"cascade" cannot remove',
  ],
  ["a part of a Map", () => modelAround({ onDelete: "unset" }, "of"), "is a Map"],
  [
    "an unknown class",
    () => modelWith({ ref: "Nothing", onDelete: "unset" }),
    "no class with @rest",
  ],
  ["a kind", () => modelWithKind(OF_KIND), 'has "onDelete": declare the field in the class'],
  ["a list of a kind", () => modelWithKind([OF_KIND]), 'field "own" of the kind "Kind'],
  [
    "a kind of a part",
    () => modelWithKind({ type: String, stamp: "updatedBy" }, { embedded: true }),
    'has "stamp": declare the field',
  ],
];

test("a rule that cannot apply fails the start", async (t) => {
  for (const [name, modelOf, problem] of PROBLEMS) {
    await t.step(name, () => {
      const start = () => Framework.initialize({ models: [modelOf(), Thing] });
      assertThrows(start, TypeError, problem);
    });
  }
});

test("limits.cascade is a number of entities", () => {
  for (const maxCascade of [0, 1.5, "10"] as never[]) {
    const start = () => Framework.initialize({ models: [Thing], limits: { cascade: maxCascade } });
    assertThrows(start, RangeError, "limits.cascade is");
  }
});

@rest({ route: "/persisted", methods: [remove({ persist: async () => {} })] })
class Persisted extends FrameworkModel {}

@rest({ route: "/persisting", methods: [one(), create({ persist: async () => {} })] })
class Persisting extends FrameworkModel {
  @prop({ ref: () => Persisted, onDelete: "restrict" })
  one?: Ref<Persisted>;
}

test("a hook that writes in the place of the framework fails the start", () => {
  for (const [model, operation] of [[Persisted, "remove"], [Persisting, "create"]] as const) {
    assertThrows(
      () => Framework.initialize({ models: [model] }),
      TypeError,
      `"onDelete" of "one" of "Persisting" does not bind the hook "persist" of ${operation}()`,
    );
  }
});

/** Returns a class with a trash, and a class whose entities are removed together with those of the first one. */
function cascading(
  onDelete: string | object,
  trash?: true,
): [kept: ModelClass, follower: ModelClass] {
  @rest({ route: "/kept", methods: [one(), create(), remove()], trash: true })
  class Kept extends FrameworkModel {}
  @rest({ route: "/followers", methods: [one(), create(), remove()], ...trash && { trash } })
  class Follower extends FrameworkModel {
    @prop({ ref: () => Kept, onDelete } as never)
    kept?: Ref<Kept>;
  }
  return [Kept, Follower];
}

test("a cascade from a class with trash to a class without it fails the start, at both ends", () => {
  for (const model of cascading("cascade")) {
    const { message } = assertThrows(() => Framework.initialize({ models: [model] }), TypeError);
    for (const part of ['"Kept"', '"Follower"', "trash", '"restrict"', '{ cascade: "forGood" }']) {
      assert(message.includes(part), message);
    }
  }
  const start = () => Framework.initialize({ models: cascading({ cascade: "forGood" }, true) });
  assertThrows(start, TypeError, '"Follower" has a trash: say "cascade"');
});

test("a cascade for good removes entities without trash because of an entity in the trash", async () => {
  const [Kept, Follower] = cascading({ cascade: "forGood" });
  await using app = await serveAll([Kept, Follower]);
  assertEquals((await app.post("/followers", { kept: NOBODY })).status, 400);
  const { _id: kept } = await app.created("/kept", {});
  await app.created("/followers", { kept });
  assertEquals((await app.delete(`/kept/${kept}`)).status, 204);
  assertEquals([await countOf(Kept), await countOf(Follower)], [1, 0]);
});

@rest({ route: "/goals", methods: [one(), create(), remove()] })
class Goal extends FrameworkModel {}

@rest({ route: "/steps", methods: [one(), create()] })
class Step extends FrameworkModel {
  @prop({ ref: () => Goal, onDelete: "restrict" })
  goal?: Ref<Goal>;
}

test("a rule fails the start on a standalone server, at both ends of the reference", async () => {
  await using _database = await openDatabase();
  for (const model of [Goal, Step]) {
    assertThrows(
      () => Framework.initialize({ models: [model] }),
      TypeError,
      `Cannot mount "${model.name}": "onDelete" adds statements to each write, but the database is a`,
    );
  }
});

class Piece extends FrameworkModel {
  @prop({ ref: () => Thing, onDelete: "unset" })
  thing?: Ref<Thing>;
}

@rest({ route: "/indexed", methods: [all()] })
class Indexed extends FrameworkModel {
  @prop({ ref: () => Thing, onDelete: "restrict" })
  a?: Ref<Thing>;
  @prop({ ref: () => Thing, onDelete: "restrict", index: true })
  b?: Ref<Thing>;
  @prop({ ref: () => Thing, onDelete: "keep" })
  c?: Ref<Thing>;
  @arrayProp({ items: () => Thing, onDelete: "unset" })
  d!: Ref<Thing>[];
  @arrayProp({ items: Piece, embedded: true })
  pieces!: Piece[];
  @prop({ ref: () => Thing, onDelete: "unset" })
  e?: Ref<Thing>;
  static override configure(schema: mongoose.Schema): void {
    schema.index({ e: 1, a: 1 });
    schema.index({ a: 1 }, { partialFilterExpression: { b: 1 } });
  }
}

test("a reference with a rule gets an index, unless another index covers it", () => {
  const keys = getModel(Indexed).schema.indexes().map(([fields]) => Object.keys(fields).join());
  assertEquals(keys.sort(), ["a", "a", "b", "d", "e,a", "pieces.thing"]);
});

class Defined extends FrameworkModel {
  declare goal?: Ref<Goal>;
  declare goals?: Ref<Goal>[];
  declare loose?: Ref<Goal>;
}
define(Defined, {
  fields: {
    goal: { ref: Goal, onDelete: "cascade" },
    goals: { items: Goal, onDelete: "restrict" },
    loose: { ref: Goal, onDelete: "unset" },
  },
  rest: { route: "/defined", methods: [one(), create()] },
});

test("restrict and cascade imply exists, also with define()", async () => {
  await using app = await serveAll([Goal, Defined]);
  const gone = { goal: NOBODY, goals: [NOBODY], loose: NOBODY };
  const statuses = [];
  for (const [name, id] of Object.entries(gone)) {
    statuses.push((await app.post("/defined", { [name]: id })).status);
  }
  assertEquals(statuses, [400, 400, 201]);
  const { _id } = await app.created("/goals", {});
  await app.created("/defined", { goal: _id });
  assertEquals((await app.delete(`/goals/${_id}`)).status, 204);
  assertEquals(await countOf(Defined), 1);
});

test("a class on another connection that refers to the entity is a 500, and nothing is done", async () => {
  const mongo = await sharedReplicaSet();
  await using other = await startMongo({ replicaSet: 1 });
  const connection = await mongoose.createConnection(other.uri, { dbName: "far" }).asPromise();
  @rest({ route: "/near", methods: [one(), create(), remove()] })
  class Near extends FrameworkModel {}
  @rest({ route: "/far", methods: [one(), create()], getConnection: () => connection })
  class Far extends FrameworkModel {
    @prop({ ref: () => Near, onDelete: "unset" })
    near?: Ref<Near>;
  }
  const told: string[] = [];
  const onError = (_req: unknown, error: unknown) => void told.push(String(error));
  await using app = await mount([Near, Far], { mongo, onError });
  const { _id } = await app.created("/near", {});
  const { status } = await app.delete<ErrorBody>(`/near/${_id}`);
  assertEquals([status, await countOf(Near)], [500, 1]);
  assert(told.some((each) => each.includes("they are in different databases")), told.join());
  await connection.close();
});

test("rules apply if getConnection returns another connection to the same database", async () => {
  const fresh = () => mongoose.connection.useDb(mongoose.connection.name);
  @rest({ route: "/wholes", methods: [create(), remove()], getConnection: () => fresh() })
  class Whole extends FrameworkModel {}
  @rest({ route: "/halves", methods: [create()], getConnection: () => fresh() })
  class Half extends FrameworkModel {
    @prop({ ref: () => Whole, onDelete: "cascade" })
    whole?: Ref<Whole>;
  }
  await using app = await mount([Whole, Half], { mongo: await sharedReplicaSet() });
  const { _id } = await app.created("/wholes", {});
  await app.created("/halves", { whole: _id });
  assertEquals((await app.delete(`/wholes/${_id}`)).status, 204);
  assertEquals([await countOf(Whole), await countOf(Half)], [0, 0]);
});
