import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { Book, Shelf } from "./books.ts";

abstract class Named extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/declared", methods: [all()], trash: true })
class Declared extends Named {
  @prop()
  deletedBy?: string;
}

@rest({ route: "/persisted", methods: [remove({ persist: async () => {} })], trash: true })
class Persisted extends Named {}

@rest({ route: "/parts", methods: [all()], trash: true })
class Part extends Named {}

@rest({ route: "/holders", methods: [all(), one()] })
class Holder extends Named {
  @arrayProp({ items: Part, embedded: true })
  parts!: Part[];
}

@rest({ route: "/misnamed", methods: [all()], trash: { field: "a.b" } })
class Misnamed extends Named {}

@rest({ route: "/blind", methods: [all()], trash: { see: true as never } })
class Blind extends Named {}

@rest({
  route: "/waiting",
  methods: [all()],
  trash: { see: (async () => await false) as never },
})
class Waiting extends Named {}

@rest({ route: "/reading", methods: [all({ parameters: ["trash"] })], trash: true })
class Reading extends Named {}

@rest({ route: "/c", methods: [all()], trash: { keep: "1d" } })
@rest({ route: "/d", methods: [all()], trash: true })
class Split extends Named {}

const PROBLEMS: [ModelClass, string][] = [
  [Declared, 'property "deletedBy" has the name of a field that "trash" adds'],
  [Persisted, '"trash" does not bind the hook "persist" of remove()'],
  [Holder, 'Cannot mount "Part": embedded entities have no trash'],
  [Misnamed, 'needs the name of a field as "trash.field"'],
  [Blind, 'needs a function as "trash.see"'],
  [Waiting, 'has "trash.see", which is asynchronous'],
  [Reading, 'all() uses the parameter "trash" of its trash'],
  [
    Split,
    `its @rest decorators have different values of "trash": { keep: '1d' } for "/c", and true for "/d"`,
  ],
];

test("a trash that cannot work fails the start", async (t) => {
  for (const [model, problem] of PROBLEMS) {
    await t.step(model.name, () => {
      assertThrows(() => Framework.initialize({ models: [model] }), TypeError, problem);
    });
  }
});

@rest({
  route: "/promising",
  methods: [all(), create(), remove(), update()],
  trash: { see: (() => Promise.resolve(true)) as never },
})
class Promising extends Named {}

test("a promise of `see` answers 500, and shows and restores nothing", async () => {
  using log = stub(console, "error");
  await using app = await mount([Promising]);
  const { _id } = await app.created("/promising", { name: "a" });
  assertEquals((await app.delete(`/promising/${_id}`)).status, 204);
  assertEquals((await app.get("/promising?trash=only")).status, 500);
  assertEquals((await app.post(`/promising/${_id}/restore`)).status, 500);
  assertStringIncludes(String(log.calls[0]?.args[0]), 'the function "see" is asynchronous');
});

@rest({ route: "/renamed", methods: [one(), create(), remove()], trash: { field: "removedAt" } })
class Renamed extends Named {}

test("`field` renames the fields, and a trash needs no transactions", async () => {
  await using app = await mount([Renamed], { actor: () => "ann" });
  const { _id } = await app.created("/renamed", { name: "a" });
  assertEquals((await app.delete(`/renamed/${_id}`)).status, 204);
  const stored = await getModel(Renamed).collection.findOne();
  assertEquals([stored?.removedAt instanceof Date, stored?.removedBy], [true, "ann"]);
  assertEquals((await app.post(`/renamed/${_id}/restore`)).status, 404);
});

test("unique indexes of a class with a trash cover only living entities, and its times have an index", () => {
  const indexes = getModel(Book).schema.indexes().map(([keys, options]) => [
    Object.keys(keys).join(),
    options.sparse ?? false,
    options.partialFilterExpression,
  ]);
  assertEquals(indexes, [
    ["code", false, { deletedAt: null }],
    ["isbn", false, { isbn: { $exists: true }, deletedAt: null }],
    ["deletedAt", true, undefined],
  ]);
  assertEquals(getModel(Shelf).schema.indexes(), []);
});

test("the routes and parameters of a trash are described", () => {
  const routes = Framework.describe({ models: [Book, Shelf], actor: () => undefined });
  const own = routes.filter(({ parameters }) => parameters.some(({ name }) => name === "trash"));
  assertEquals(own.map(({ method, path }) => `${method} ${path}`), [
    "GET /books",
    "DELETE /books",
    "DELETE /hooked",
    "GET /books/:id",
    "DELETE /books/:id",
    "GET /hooked/:id",
    "DELETE /hooked/:id",
  ]);
  const restoring = routes.filter(({ operation }) => operation === "restore");
  assertEquals(restoring.map(({ method, path, status }) => [method, path, status]), [
    ["POST", "/books/:id/restore", 200],
    ["POST", "/hooked/:id/restore", 200],
  ]);
});
