import { assertEquals } from "@std/assert";
import { dropComments } from "./drop_comments.ts";

const ROWS: readonly (readonly [text: string, kept: string])[] = [
  ["/**\n * A.\n */\nexport const a = 1; // b\n", "\n\n\nexport const a = 1;\n"],
  ["f(\n  // a\n  b, // c\n);\n", "f(\n\n  b,\n);\n"],
  ["const a = `// b ${1 /* c */} /* d */`;\n", "const a = `// b ${1 } /* d */`;\n"],
  ["const a = /\\/\\/ b/.test('// c');\n", "const a = /\\/\\/ b/.test('// c');\n"],
  ["interface A {\n  /** B {@link https://c.d} */\n  b: 1;\n}\n", "interface A {\n\n  b: 1;\n}\n"],
  ["try {\n  a();\n} catch {\n  // b\n}\n// c\n", "try {\n  a();\n} catch {\n\n}\n\n"],
  ["return /* a */5;\n", "return 5;\n"],
  ['// @ts-types="./a.d.ts"\nimport("./a.js");\n', '// @ts-types="./a.d.ts"\nimport("./a.js");\n'],
  ["class A {\n  /** B */\n  @c() // d\n  e?: 1;\n}\n", "class A {\n\n  @c()\n  e?: 1;\n}\n"],
];

Deno.test("dropComments() drops comments, and keeps code, pragmas and the numbers of lines", () => {
  for (const [text, kept] of ROWS) assertEquals(dropComments(text), kept);
});

Deno.test("dropComments() keeps of a documented module what JSR shows, and the tag of what it hides", () => {
  const text =
    "/** A. */\nexport type A = 1;\n\n/**\n * B.\n * @internal C.\n */\nexport type B = 2; // D\n";
  const kept = "/** A. */\nexport type A = 1;\n\n/** @internal */\n\n\n\nexport type B = 2;\n";
  assertEquals(dropComments(text, { isDocumented: true }), kept);
});
