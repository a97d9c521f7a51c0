/** The report of a run: on the terminal, and in `docs/` as tables of the page, as charts and as JSON. @module */
import { toChart, toGrowthChart } from "./charts.ts";
import type { Figure, ModelFigure } from "./figures.ts";
import type { FilesFigure } from "./files.ts";
import type { GROWTH, SuiteName } from "./scenarios.ts";
import { readSizes } from "./sizes.ts";
import * as tables from "./tables.ts";

/** The circumstances of a run. */
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

/** A run of scenarios. */
export interface ScenarioRun extends Run {
  readonly figures: readonly Figure[];
}

type Growth = Readonly<Record<keyof typeof GROWTH, readonly Figure[]>>;

/** A run of `--growth`. */
export interface GrowthRun extends Run, Growth {
  readonly models: readonly ModelFigure[];
}

/** The last run of each kind, as `docs/benchmarks.json` keeps it. */
export interface Results extends Partial<Record<"scenarios" | SuiteName, ScenarioRun>> {
  readonly growth?: GrowthRun;
  readonly files?: Run & { readonly figures: readonly FilesFigure[] };
}

/** The figures of the tables of `--growth`. */
const GROWTH_KEYS: Readonly<Record<keyof Growth, tables.GrowthKey>> = {
  documents: "ratio",
  fields: "ratio",
  connections: "ratio",
  depth: "cpuMs",
};

/** Returns the text of each part of the page that a run writes, by the name of the part. */
function partsOf({ scenarios, growth, files, ...suites }: Results): Map<string, string> {
  const parts = new Map<string, string[]>();
  for (const [name, run] of Object.entries(suites)) {
    parts.set(name, [tables.suiteTable(run.figures), describe(run)]);
  }
  if (files) parts.set("files", [tables.filesTable(files.figures), describe(files)]);
  if (scenarios) {
    const { figures } = scenarios;
    parts.set("scenarios", [tables.ratioTable(figures)]);
    parts.set("scenarios run", [describe(scenarios)]);
    parts.set("goals", [tables.goalTable(figures)]);
  }
  if (growth) {
    parts.set("growth run", [describe(growth)]);
    for (const part of ["documents", "fields", "connections", "depth"] as const) {
      const key = GROWTH_KEYS[part];
      const title = `${key === "ratio" ? key : "CPU ms"}, by ${part}`;
      const shown = [tables.growthTable(growth[part], title, key)];
      if (growth[part].length > 0) parts.set(part, shown);
    }
    if (growth.models.length > 0) parts.set("models", [tables.modelTable(growth.models)]);
  }
  return new Map([...parts].map(([name, texts]) => [name, texts.join("\n\n")]));
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

/** Prints the parts of the page. */
export function print(results: Results): void {
  for (const [name, text] of partsOf(results)) console.log(`\n${name.toUpperCase()}\n\n${text}`);
}

/**
 * Writes the figures, the charts, and the parts of the page, which stand between comments such as `<!-- bench: goals -->` and
 * `<!-- end -->`. Runs of other kinds stay as they were.
 */
export async function writeDocs(results: Results): Promise<void> {
  const urlOf = (name: string) => new URL(`../docs/${name}`, import.meta.url);
  const last = JSON.parse(await Deno.readTextFile(urlOf("benchmarks.json")));
  const all: Results = { ...last, ...results };
  await Deno.writeTextFile(urlOf("benchmarks.json"), `${JSON.stringify(all, null, 2)}\n`);
  const parts = partsOf(all).set("sizes", tables.sizeTable(await readSizes()));
  const page = await Deno.readTextFile(urlOf("benchmarks.md"));
  const written = page.replaceAll(
    /(?<=<!-- bench: ([a-z ]+) -->\n\n).*?(?=\n\n<!-- end -->)/gs,
    (text, name) => parts.get(name) ?? text,
  );
  await Deno.writeTextFile(urlOf("benchmarks.md"), written);
  if (all.scenarios) await Deno.writeTextFile(urlOf("benchmarks.svg"), toChart(all.scenarios));
  if (all.growth) await Deno.writeTextFile(urlOf("growth.svg"), toGrowthChart(all.growth));
}
