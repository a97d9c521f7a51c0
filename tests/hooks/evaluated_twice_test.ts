import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { all, create, Framework, FrameworkModel, type ModelClass, prop, rest } from "../../mod.ts";
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

test("initialize({ models }) serves the class that was evaluated last", async () => {
  evaluate();
  await using app = await mount([evaluate()]);
  const made = await app.post("/todos", { text: "a" });
  assertEquals(made.status, 201);
  assertEquals((await app.get("/todos")).body, [made.body]);
});
