import { fileURLToPath } from "node:url";
import { readSizes } from "../sizes.ts";
import { toChart } from "./chart.ts";
import { toGrowthChart } from "./growth_chart.ts";
import { toPage } from "./page.ts";
import type { Results } from "./run.ts";

const DOCS = new URL("../../docs/", import.meta.url);
const LAST = new URL("../last.json", import.meta.url);

/** Keeps the results of a run beside the bench, out of the repository. */
export async function saveLast(results: Results): Promise<void> {
  await Deno.writeTextFile(LAST, `${JSON.stringify(results, null, 2)}\n`);
}

/**
 * Writes the page, the charts and the figures in `docs/`. What this run has not measured stays as it
 * was measured last.
 */
export async function writeDocs(results: Results): Promise<void> {
  const all = { ...await readDocs(), ...results };
  await Deno.mkdir(DOCS, { recursive: true });
  const files = [await write("benchmarks.json", JSON.stringify(all, null, 2))];
  files.push(await write("benchmarks.md", toPage(all, await readSizes())));
  if (all.scenarios) {
    const { figures, date, machine } = all.scenarios;
    const caption =
      `CPU time per request, as a ratio to node:http + driver + JSON.stringify; less is better. ${date}, ${machine}`;
    // Not formatted: indented, it would have a third more bytes.
    await write("benchmarks.svg", toChart(figures, caption));
  }
  if (all.growth) {
    const { date, machine } = all.growth;
    const caption = `CPU milliseconds per request. ${date}, ${machine}`;
    await write("growth.svg", toGrowthChart(all.growth, caption));
  }
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", ...files] }).output();
}

async function readDocs(): Promise<Results> {
  try {
    return JSON.parse(await Deno.readTextFile(new URL("benchmarks.json", DOCS)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

async function write(name: string, text: string): Promise<string> {
  const url = new URL(name, DOCS);
  await Deno.writeTextFile(url, text);
  return fileURLToPath(url);
}
