import { assertEquals } from "@std/assert";
import { tabIndents } from "./tab_indents.ts";

const ROWS: readonly (readonly [text: string, kept: string])[] = [
  ["if (a) {\n  b(\n    c,\n  );\n}\n", "if (a) {\n\tb(\n\t\tc,\n\t);\n}\n"],
  ["a\n   .b();\n", "a\n\t .b();\n"],
  [
    "  const a = `\n  b ${\n    c\n  } d\n    e`;\n",
    "\tconst a = `\n  b ${\n\t\tc\n\t} d\n    e`;\n",
  ],
  ["const a = 'b\\\n  c';\n  d();\n", "const a = 'b\\\n  c';\n\td();\n"],
  ["const a = `\n  b`, c =\n  d;\n", "const a = `\n  b`, c =\n\td;\n"],
];

Deno.test("tabIndents() changes indents, and no text", () => {
  for (const [text, kept] of ROWS) assertEquals(tabIndents(text), kept);
});
