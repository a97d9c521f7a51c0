import { assert, assertEquals } from "@std/assert";
import { type Claims, DUTIES, IMPOSSIBLE, PUBLISHED } from "./claims.ts";

const page = await Deno.readTextFile(new URL("../../docs/trust.md", import.meta.url));

/** The text below a heading, up to the next heading of the same level. */
function sectionOf(heading: string): string {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  return section.split("\n## ", 1)[0] ?? "";
}

/** The text of a test file, as far as it names tests. */
async function namesIn(file: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(file, import.meta.url));
  return [...text.matchAll(/^(?:(?:Deno\.)?test|longTest)\(\s*(["'`])(.*?)\1,/gm)].map((
    [, , name = ""],
  ) => name);
}

const SECTIONS: Readonly<Record<string, Claims>> = {
  "What your application must do": DUTIES,
  "What a client can never do": IMPOSSIBLE,
};

for (const [heading, claims] of Object.entries(SECTIONS)) {
  Deno.test(`docs/trust.md has a test that exists for each line: ${heading}`, async () => {
    const lines = [...sectionOf(heading).matchAll(/^- (.*)$/gm)].map(([, line = ""]) => line);
    assertEquals(lines.toSorted(), Object.keys(claims).sort());
    for (const [claim, proofs] of Object.entries(claims)) {
      assert(proofs.length > 0, claim);
      for (const [name, file] of proofs) {
        const names = await namesIn(`../${file}`);
        assert(names.includes(name), `${claim}: ${file} has no test "${name}"`);
      }
    }
  });
}

Deno.test("each published weakness has a test, and docs/trust.md names the software", async () => {
  const files = ["", "_writes", "_newer"].map((part) => `./weaknesses${part}_test.ts`);
  const names = (await Promise.all(files.map(namesIn))).flat();
  const tested = names.flatMap((name) => (name.split(": ")[0] ?? "").split(", "));
  assertEquals([...new Set(tested)].sort(), Object.values(PUBLISHED).flat().toSorted());
  const [, listed = ""] = / were found in (.*)\.\n$/.exec(sectionOf("Published weaknesses")) ?? [];
  assertEquals(listed.split(/, | and /), Object.keys(PUBLISHED));
});
