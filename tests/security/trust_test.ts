import { assert, assertEquals } from "@std/assert";

const page = await Deno.readTextFile(new URL("../../docs/trust.md", import.meta.url));

/** The rows of the tables below a heading, without their heads. */
function rowsOf(heading: string): string[][] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const lines = section.split("\n## ", 1)[0]?.split("\n") ?? [];
  const rows = lines.filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** The text of a test file, as far as it names tests. */
async function namesIn(file: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(file, import.meta.url));
  return [...text.matchAll(/^(?:Deno\.)?test\(\s*(["'`])(.*?)\1,/gm)].map(([, , name = ""]) =>
    name
  );
}

for (const heading of ["What a client can never do", "What your application must do"]) {
  Deno.test(`docs/trust.md names tests that exist: ${heading}`, async () => {
    const rows = rowsOf(heading);
    assert(rows.length > 5);
    for (const [claim, name = "", file = ""] of rows) {
      const names = await namesIn(`../${file.replaceAll("`", "")}`);
      assert(names.includes(name), `${claim}: ${file} has no test "${name}"`);
    }
  });
}

Deno.test("docs/trust.md lists the published weaknesses that have a test, and no other", async () => {
  const files = ["", "_writes", "_newer"].map((part) => `./weaknesses${part}_test.ts`);
  const names = (await Promise.all(files.map(namesIn))).flat();
  const tested = names.flatMap((name) => (name.split(": ")[0] ?? "").split(", "));
  const listed = rowsOf("Published weaknesses").map(([id]) => id);
  assertEquals([...new Set(tested)].sort(), listed.toSorted());
});
