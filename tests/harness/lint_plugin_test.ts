import { assertEquals } from "@std/assert";
import plugin from "./lint_plugin.ts";

const cases: readonly { name: string; code: string; found: readonly string[]; file?: string }[] = [
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
  { name: "a function of 40 lines", code: `function f() {${"\n".repeat(39)}}`, found: [] },
  {
    name: "a function of 41 lines",
    code: `const f = () => {${"\n".repeat(40)}};`,
    found: ["short-function"],
  },
  { name: "a file of 300 lines", code: "a;\n".repeat(300), found: [] },
  { name: "a file of 301 lines", code: "a;\n".repeat(301), found: ["short-file"] },
  {
    name: "a function of 41 lines in tests",
    code: `const f = () => {${"\n".repeat(40)}};`,
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
