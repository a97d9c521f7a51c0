import { assertEquals } from "@std/assert";
import { longTest } from "../harness/testing.ts";
import { observeWays } from "./guards/observe.ts";

const PAGE = new URL("../../docs/guards.md", import.meta.url);
const HEAD = ["request", "hooks, in their order", "scope", "fields"];
const TABLE = /(?:^\|.*\|\n)+/m;

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const rule = widths.map((width) => "-".repeat(width));
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)));
  lines.splice(1, 0, rule);
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

longTest("docs/guards.md says what runs", async () => {
  const text = await Deno.readTextFile(PAGE);
  const observed = table([HEAD, ...await observeWays()]);
  const [said = ""] = text.match(TABLE) ?? [];
  if (said === observed) return;
  const file = await Deno.makeTempFile({ suffix: ".md" });
  await Deno.writeTextFile(file, text.replace(TABLE, () => observed));
  assertEquals(
    said.split("\n"),
    observed.split("\n"),
    `If it is meant: cp ${file} ${PAGE.pathname}`,
  );
});
