import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { all, create, Framework, FrameworkModel, type ModelClass, prop, rest } from "../../mod.ts";
import mongoose from "mongoose";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Evaluates a class as its module does: each time there is another one. */
function evaluate(collection?: string): ModelClass {
  @rest({
    route: "/todos",
    methods: [all(), create()],
    ...collection === undefined ? {} : { schemaOptions: { collection } },
  })
  class Todo extends FrameworkModel {
    @prop()
    text?: string;
  }
  return Todo;
}

const CURE =
  "if its module was evaluated twice, as after vi.resetModules(), call initialize({ models: [Todo] })";

test("initialize() tells the cure where a class was evaluated twice", () => {
  const models = [evaluate(), evaluate()];
  const { message } = assertThrows(() => Framework.initialize({ models }), TypeError);
  assertStringIncludes(message, CURE);
  const others = [evaluate("a"), evaluate("b")];
  const paths = assertThrows(() => Framework.initialize({ models: others }), TypeError);
  assertStringIncludes(paths.message, `GET /todos is taken by "Todo"; ${CURE}`);
});

test("initialize() tells the cause where a class, a route or an operation is mounted twice", () => {
  const Todo = evaluate("twice");
  assertThrows(
    () => Framework.initialize({ models: [Todo, Todo] }),
    TypeError,
    'Cannot mount "Todo": collection "twice" is taken by "Todo": "models", its @rest or its "methods" have it twice',
  );
  @rest({ route: "/twice", methods: [all(), all()] })
  class Twice extends FrameworkModel {}
  assertThrows(
    () => Framework.initialize({ models: [Twice] }),
    TypeError,
    'GET /twice is taken by "Twice": "models", its @rest or its "methods" have it twice',
  );
});

test("initialize() tells the cause where the application has compiled a model of the same name", async () => {
  await using database = await openDatabase();
  @rest({ route: "/own-things", methods: [all()] })
  class OwnThing extends FrameworkModel {}
  database.connection.model("OwnThing", new mongoose.Schema({}));
  assertThrows(
    () => Framework.initialize({ models: [OwnThing] }),
    TypeError,
    'Cannot compile "OwnThing": the connection has a model "OwnThing" already',
  );
  database.connection.deleteModel("OwnThing");
});

test("initialize({ models }) serves the class that was evaluated last", async () => {
  evaluate();
  await using app = await mount([evaluate()]);
  const made = await app.post("/todos", { text: "a" });
  assertEquals(made.status, 201);
  assertEquals((await app.get("/todos")).body, [made.body]);
});
