import { suiteTable } from "./tables/suite_table.ts";
import { goalTable } from "./tables/goal_table.ts";
import { depthTable } from "./tables/depth_table.ts";
import { growthTable, modelTable } from "./tables/growth_tables.ts";
import type { GrowthRun, Run, ScenarioRun } from "./run.ts";
import { ratioTable, scenariosOf, scenarioTable } from "./tables/scenario_tables.ts";
import { type Table, toText } from "./tables/table.ts";

/** Shows a run of the scenarios on a terminal. */
export function printScenarios(run: ScenarioRun): void {
  for (const { name, title } of scenariosOf(run.figures)) {
    print(title, toText(scenarioTable(run.figures, name)));
  }
  print("Goals", toText(goalTable(run.figures)));
  print("CPU time per request, to the bare driver", toText(ratioTable(run.figures)));
  printCircumstances(run);
}

/** Shows a run of scenarios beside servers by hand on a terminal. */
export function printSuite(run: ScenarioRun): void {
  print("CPU time per request, to Express by hand", toText(suiteTable(run.figures)));
  printCircumstances(run);
}

/** Shows a run of growth on a terminal. */
export function printGrowth(run: GrowthRun): void {
  const { documents, fields = [], connections, models, depth = [] } = run;
  const tables: [string, Table][] = [
    ["Documents", growthTable(documents, "CPU ms/request", "cpuMs")],
    ["Documents", growthTable(documents, "ratio", "ratio")],
    ["Documents", growthTable(documents, "first byte ms", "firstByteMs")],
    ["Fields", growthTable(fields, "CPU ms/request", "cpuMs")],
    ["Fields", growthTable(fields, "ratio", "ratio")],
    ["Connections", growthTable(connections, "CPU ms/request", "cpuMs")],
    ["Connections", growthTable(connections, "ratio", "ratio")],
    ["Connections", growthTable(connections, "requests/s", "perSecond")],
    ["Depth", depthTable(depth, "CPU ms/request", "cpuMs")],
    ["Depth", depthTable(depth, "mongod ms/request", "databaseMs")],
    ["Depth", depthTable(depth, "first byte ms", "firstByteMs")],
    ["Models", modelTable(models)],
  ];
  for (const [title, table] of tables) {
    if (table.rows.length > 0) print(title, toText(table));
  }
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
