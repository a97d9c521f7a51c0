/** The report of a run: on the terminal, and in files as tables, as charts and as JSON. @module */
import { toChart, toGrowthChart } from "./charts.ts";
import type { Figure } from "./figures.ts";
import type { FilesFigure } from "./files.ts";
import type { ModelFigure } from "./measure.ts";
import { GROWTH_PARTS, type GrowthPart, type SuiteName } from "./scenarios.ts";
import * as tables from "./tables.ts";

interface Run {
  readonly date: string;
  readonly command: string;
  /** The sentence about what is left out; empty if nothing is. */
  readonly partial: string;
  readonly rounds: number;
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

export interface ScenarioRun extends Run {
  readonly figures: readonly Figure[];
}

export interface GrowthRun extends Run, Readonly<Record<GrowthPart, readonly Figure[]>> {
  readonly models: readonly ModelFigure[];
}

/** The last run of each kind, as `docs/benchmarks.json` keeps it. */
export interface Results
  extends Partial<Record<Exclude<SuiteName, "files" | "growth">, ScenarioRun>> {
  readonly growth?: GrowthRun;
  readonly files?: Run & { readonly figures: readonly FilesFigure[] };
}

/** Returns the tables and the circumstances of runs, by the names of their places in the files. */
function partsOf(results: Results): Map<string, string> {
  const { scenarios, growth, files, ...suites } = results;
  const parts = new Map<string, string>();
  for (const [name, run] of Object.entries(suites)) {
    parts.set(name, tables.suiteTable(name as SuiteName, run.figures));
  }
  if (files) parts.set("files", tables.filesTable(files.figures));
  if (scenarios) {
    parts.set("scenarios", tables.ratioTable(scenarios.figures));
    parts.set("goals", tables.goalTable(scenarios.figures));
  }
  for (const part of GROWTH_PARTS) {
    if (!growth?.[part].length) continue;
    const isModels = part === "models";
    const text = isModels
      ? tables.modelTable(growth[part])
      : tables.growthTable(growth[part], part);
    parts.set(part, text);
  }
  for (const [name, run] of Object.entries(results)) parts.set(`${name} run`, describe(run));
  return parts;
}

/** Describes the circumstances of a run. */
function describe({ command, date, machine, notes, partial, rounds, versions }: Run): string {
  const names = Object.entries(versions).map((entry) => entry.join(" "));
  return [
    ...partial === "" ? [] : [`**This was ${partial}.**`, ""],
    `- Command: \`${command}\``,
    `- Date: ${date}; rounds: ${rounds}`,
    `- Machine: ${machine}`,
    `- Versions: ${names.join(", ")}`,
    ...notes.map((note) => `- Note: ${note}`),
  ].join("\n");
}

export function print(results: Results): void {
  for (const [name, text] of partsOf(results)) console.log(`\n${name.toUpperCase()}\n\n${text}`);
}

/**
 * Writes the figures, the charts, and the tables, which stand between comments such as `<!-- bench: goals -->` and
 * `<!-- end -->`. Runs of other kinds stay as they were.
 */
export async function writeDocs(results: Results): Promise<void> {
  const urlOf = (name: string) => new URL(`../docs/${name}`, import.meta.url);
  const last = JSON.parse(await Deno.readTextFile(urlOf("benchmarks.json")));
  const all: Results = { ...last, ...results };
  await Deno.writeTextFile(urlOf("benchmarks.json"), `${JSON.stringify(all, null, 2)}\n`);
  const parts = partsOf(all);
  const url = urlOf("../bench/RESULTS.md");
  const written = (await Deno.readTextFile(url)).replaceAll(
    /(?<=<!-- bench: ([a-z ]+) -->\n\n).*?(?=\n\n<!-- end -->)/gs,
    (text, name) => parts.get(name) ?? text,
  );
  await Deno.writeTextFile(url, written);
  if (all.scenarios) await Deno.writeTextFile(urlOf("benchmarks.svg"), toChart(all.scenarios));
  if (all.growth) await Deno.writeTextFile(urlOf("growth.svg"), toGrowthChart(all.growth));
}
