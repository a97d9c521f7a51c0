import { assert, assertEquals } from "@std/assert";
import mongoose, { type SchemaOptions } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

type Json = Record<string, unknown>;

abstract class Owned extends FrameworkModel {
  static override schemaOptions = { timestamps: true } as SchemaOptions;
  static limit = 3;
  @prop({ required: true })
  owner!: string;
  @prop()
  title?: string;
  greet(): string {
    return `I am ${this.owner}`;
  }
  get label(): string {
    return `${this.title} of ${this.owner}`;
  }
  set label(text: string) {
    [this.title = "", this.owner = ""] = text.split(" of ");
  }
  static describe(): string {
    return `at most ${this.limit}`;
  }
  static get double(): number {
    return 2 * this.limit;
  }
}

// deno-lint-ignore no-explicit-any -- the compiler asks for it in mixins
function Tagged<B extends abstract new (...args: any[]) => FrameworkModel>(Base: B) {
  abstract class Mixin extends Base {
    @arrayProp({ items: String })
    tags?: string[];
    countTags(): number {
      return this.tags?.length ?? 0;
    }
  }
  return Mixin;
}

const show = (_req: FrameworkRequest, note: Entity<Note>) => ({
  ...note.toObject(),
  greeting: note.greet(),
  label: note.label,
  count: note.countTags(),
});

@rest({ route: "/notes", methods: [all(), create({ preSend: show })] })
class Note extends Tagged(Owned) {
  static override limit = 5;
  @prop({ type: Number, default: 1 })
  override title = undefined as never;
  override greet(): string {
    return `${super.greet()}!`;
  }
}

@rest({ route: "/memos", methods: [all(), create()] })
class Memo extends Owned {}

test("FrameworkModel passes fields, options and members on to subclasses, mixins included", async () => {
  await using app = await mount([Note, Memo]);
  const made = await app.created("/notes", { owner: "Ada", title: "7", tags: ["a", "b"] });
  assertEquals([made.owner, made.title, made.tags], ["Ada", 7, ["a", "b"]]);
  assertEquals([made.greeting, made.label, made.count], ["I am Ada!", "7 of Ada", 2]);
  assert("createdAt" in made && "updatedAt" in made);
  const memo = await app.created("/memos", { owner: "Bob", title: "x", tags: ["a"] });
  assertEquals([memo.title, "tags" in memo, "createdAt" in memo], ["x", false, true]);
  const missing = await app.post("/memos", {});
  assertEquals(missing.status, 400);
});

test("FrameworkModel has its methods, getters, setters and statics on documents and models", () => {
  const NoteModel = getModel(Note);
  const MemoModel = getModel(Memo);
  const memo = new MemoModel({ owner: "Ada" });
  memo.label = "Novel of Bob";
  assertEquals([memo.title, memo.owner, memo.label], ["Novel", "Bob", "Novel of Bob"]);
  assertEquals([NoteModel.describe(), MemoModel.describe()], ["at most 5", "at most 3"]);
  assertEquals([NoteModel.double, MemoModel.double], [10, 6]);
  assertEquals(memo.greet(), "I am Bob");
});

@rest({ route: "/founds", methods: [all(), one(), create(), update(), remove()] })
class Found extends FrameworkModel {
  @prop()
  name?: string;
  static base = "mine";
  static db = "mine";
  static find(): string {
    return "mine";
  }
  static findOne(): string {
    return "mine";
  }
  static init(): string {
    return "mine";
  }
  static get discriminators(): string {
    return "mine";
  }
  static override toString(): string {
    return "mine";
  }
}

test("statics with the names of members of Mongoose's models stay on the class", async () => {
  await using app = await mount([Found]);
  const { _id } = await app.created("/founds", { name: "a" });
  assertEquals((await app.updated(`/founds/${_id}`, { name: "b" })).name, "b");
  assertEquals((await app.read<Json[]>("/founds")).map(({ name }) => name), ["b"]);
  assertEquals((await getModel(Found).find().lean()).length, 1);
  assertEquals([Found.find(), Found.db, String(getModel(Found))], ["mine", "mine", "mine"]);
  assertEquals((await app.delete(`/founds/${_id}`)).status, 204);
});

test("FrameworkModel lets a subclass replace a getter and a setter: the parent's do not run", () => {
  const calls: string[] = [];
  class Parent extends FrameworkModel {
    @prop()
    name?: string;
    get shown(): string {
      calls.push("parent get");
      return "parent";
    }
    set shown(name: string) {
      calls.push("parent set");
      this.name = name;
    }
  }
  class Child extends Parent {
    override get shown(): string {
      return `child ${this.name}`;
    }
    override set shown(name: string) {
      this.name = `<${name}>`;
    }
  }
  const doc = new (getModel(Child))();
  doc.shown = "a";
  assertEquals([doc.shown, doc.name, calls], ["child <a>", "<a>", []]);
});

class Base extends FrameworkModel {
  @prop({ required: true, hidden: true })
  first!: string;
  @prop()
  second?: string;
}
@rest({ route: "/plain-children", methods: [create()] })
class PlainChild extends Base {}
@rest({ route: "/redeclared", methods: [create()] })
class Redeclared extends Base {
  @prop()
  override first = "";
  @arrayProp({ items: Number })
  third?: number[];
}
@rest({ route: "/bases", methods: [create(), all()] })
class RoutedBase extends Base {}
@rest({ route: "/grandchildren", methods: [create(), all()] })
class Grandchild extends RoutedBase {
  @prop()
  own?: string;
}

test("prop() on a subclass replaces the field, and leaves the parent and its other children alone", async () => {
  await using app = await mount([PlainChild, Redeclared]);
  const made = await app.created("/redeclared", { second: "b" });
  assertEquals([made.first, made.second, made.third], [undefined, "b", []]);
  assertEquals((await app.created("/redeclared", { first: "a" })).first, "a");
  const child = await app.created("/plain-children", { first: "a", third: [1] });
  assertEquals(["first" in child, "third" in child], [false, false]);
  const missing = await app.post("/plain-children", {});
  assertEquals(missing.status, 400);
});

test("rest() on a subclass makes a model of its own, with a collection of its own", async () => {
  await using app = await mount([RoutedBase, Grandchild]);
  await app.created("/bases", { first: "a", own: "x" });
  const child = await app.created("/grandchildren", { first: "b", own: "y" });
  assertEquals(child.own, "y");
  assertEquals((await app.read<Json[]>("/bases")).length, 1);
  assertEquals((await app.read<Json[]>("/grandchildren")).map(({ own }) => own), ["y"]);
  assertEquals((await app.read<Json[]>("/bases"))[0]?.own, undefined);
});

class Stored extends FrameworkModel {
  static override schemaOptions: SchemaOptions = { collection: "stored_parents" };
  @prop()
  name?: string;
}
class StoredChild extends Stored {}

test("schemaOptions.collection names the collection of its class, not of a subclass", () => {
  assertEquals(getModel(Stored).collection.name, "stored_parents");
  assertEquals(getModel(StoredChild).collection.name, "storedchildren");
});

test("getModel() names the collection by Mongoose's plural of the class name", () => {
  class Address extends Named {}
  assertEquals(getModel(Address).collection.name, "addresses");
  assertEquals(getModel(Grandchild).collection.name, mongoose.pluralize()?.("Grandchild"));
});
