import { goalTable } from "./tables/goal_table.ts";
import { growthTable, modelTable } from "./tables/growth_tables.ts";
import type { GrowthRun, Run, ScenarioRun } from "./run.ts";
import { ratioTable, scenariosOf, scenarioTable } from "./tables/scenario_tables.ts";
import { toText } from "./tables/table.ts";

/** Shows a run of the scenarios on a terminal. */
export function printScenarios(run: ScenarioRun): void {
  for (const { name, title } of scenariosOf(run.figures)) {
    print(title, toText(scenarioTable(run.figures, name)));
  }
  print("Goals", toText(goalTable(run.figures)));
  print("CPU time per request, to the bare driver", toText(ratioTable(run.figures)));
  printCircumstances(run);
}

/** Shows a run of growth on a terminal. */
export function printGrowth(run: GrowthRun): void {
  const { documents, connections, models } = run;
  print("Documents", toText(growthTable(documents, "CPU ms/request", "cpuMs")));
  print("Documents", toText(growthTable(documents, "ratio", "ratio")));
  print("Documents", toText(growthTable(documents, "first byte ms", "firstByteMs")));
  print("Connections", toText(growthTable(connections, "CPU ms/request", "cpuMs")));
  print("Connections", toText(growthTable(connections, "ratio", "ratio")));
  print("Connections", toText(growthTable(connections, "requests/s", "perSecond")));
  print("Models", toText(modelTable(models)));
  printCircumstances(run);
}

function printCircumstances({ machine, versions, notes, partial }: Run): void {
  console.log(`\n${machine}`);
  console.log(Object.entries(versions).map((entry) => entry.join(" ")).join(", "));
  for (const note of notes) console.log(`Note: ${note}`);
  if (partial !== "") console.log(`This was ${partial}.`);
}

function print(title: string, text: string): void {
  console.log(`\n${title}\n\n${text}`);
}
