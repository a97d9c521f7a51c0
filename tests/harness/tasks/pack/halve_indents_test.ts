import { assertEquals } from "@std/assert";
import { halveIndents } from "./halve_indents.ts";

Deno.test("halveIndents() indents code by one space, and keeps template literals", () => {
  const code = [
    ...[
      "if (a) {",
      "  for (;;) {",
      "    b(`",
      "    c",
      "  ${",
      "    d(() => {",
      "      `  e",
      "  `;",
    ],
    ...["    })", "  }", "    f`,", "      'g');", "  }", "}"],
  ];
  assertEquals(halveIndents(code.join("\n")).split("\n"), [
    ...["if (a) {", " for (;;) {", "  b(`", "    c", "  ${", "  d(() => {", "   `  e", "  `;"],
    ...["  })", " }", "    f`,", "   'g');", " }", "}"],
  ]);
});

Deno.test("halveIndents() changes no value", () => {
  const code = "[`\n    a ${[\n    `\n  b`,\n      1\n  ]}\n  c`, {\n  d: 2\n}]";
  const [before, after] = [code, halveIndents(code)].map((text) => Function(`return ${text}`)());
  assertEquals(after, before);
});
