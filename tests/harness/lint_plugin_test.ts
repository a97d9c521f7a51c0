import { assertEquals } from "@std/assert";
import plugin from "./lint_plugin.ts";

const cases: readonly { name: string; code: string; found: readonly string[]; file?: string }[] = [
  { name: "a comment with nouns", code: "/** Returns the sum. */\nlet a;", found: [] },
  { name: "a comment without a noun", code: "// What is sent.\nlet a;", found: ["plain-comments"] },
  { name: "an old verb", code: "/** Gives the sum. */\nlet a;", found: ["plain-comments"] },
  { name: "an example", code: "/**\n * Sums.\n * @example what it gives\n */\nlet a;", found: [] },
  { name: "a literal in a literal", code: "f({ ...{ a, b } })", found: ["flat-literal"] },
  { name: "a literal of a condition", code: "f({ ...a && { b } })", found: [] },
  { name: "two arguments", code: "function f(a, b) {}", found: [] },
  { name: "a third that holds options", code: "function f(a, b, { c } = {}) {}", found: [] },
  { name: "a third named options", code: "function f(a, b, options) {}", found: [] },
  { name: "a rest", code: "function f(a, b, ...rest) {}", found: [] },
  { name: "three arguments", code: "function f(a, b, c) {}", found: ["positional-arguments"] },
  {
    name: "options that are not the last",
    code: "function f(a, b, { c }, d) {}",
    found: ["positional-arguments"],
  },
  {
    name: "a method with three arguments",
    code: "class A { f(a, b, c) {} }",
    found: ["positional-arguments"],
  },
  {
    name: "a method of the class above",
    code: "class A extends B { override f(a, b, c) {} }",
    found: [],
  },
  { name: "a callback, whose caller decides", code: "use((a, b, c) => c)", found: [] },
  { name: "a function of 60 lines", code: `function f() {${"\n".repeat(59)}}`, found: [] },
  {
    name: "a function of 61 lines",
    code: `const f = () => {${"\n".repeat(60)}};`,
    found: ["short-function"],
  },
  { name: "a file of 400 lines", code: "a;\n".repeat(400), found: [] },
  { name: "a file of 401 lines", code: "a;\n".repeat(401), found: ["short-file"] },
  {
    name: "a function of 61 lines in tests",
    code: `const f = () => {${"\n".repeat(60)}};`,
    found: ["short-function"],
    file: "/p/tests/a.ts",
  },
  {
    name: "a test of 30 lines",
    code: `test("a", () => {${"\n".repeat(29)}});`,
    found: [],
    file: "/p/tests/a_test.ts",
  },
  {
    name: "a test of 31 lines",
    code: `test("a", () => {${"\n".repeat(30)}});`,
    found: ["short-function"],
    file: "/p/tests/a_test.ts",
  },
  {
    name: "a unit test of 31 lines",
    code: `Deno.test("a", () => {${"\n".repeat(30)}});`,
    found: ["short-function"],
    file: "/p/src/room/a_test.ts",
  },
  {
    name: "an import by a literal in tests",
    code: 'await import("npm:a@1");',
    found: [],
    file: "/p/tests/a.ts",
  },
  {
    name: "an import of what is computed in tests",
    code: "await import(`npm:${name}@1`);",
    found: ["literal-import"],
    file: "/p/tests/a.ts",
  },
  { name: "an import of what is computed", code: "await import(name);", found: [] },
  { name: "a test", code: "function f(a, b, c) {}", found: [], file: "/p/src/a_test.ts" },
  {
    name: "a file outside of src",
    code: "function f(a, b, c) {}",
    found: [],
    file: "/p/bench/a.ts",
  },
];

for (const { name, code, found, file = "/p/src/room/a.ts" } of cases) {
  Deno.test(`the lint plugin judges ${name}`, () => {
    const ids = Deno.lint.runPlugin(plugin, file, code).map(({ id }) => id);
    assertEquals(ids, found.map((id) => `mongrove/${id}`));
  });
}
