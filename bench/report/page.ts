import type { Sizes } from "../sizes.ts";
import { SIZES } from "../plan/collections.ts";
import type { Figure } from "../figures/figure.ts";
import { WIDE_COUNT } from "../plan/growth.ts";
import { ITEM_BYTES } from "../plan/items.ts";
import { goalTable } from "./tables/goal_table.ts";
import { suiteTable } from "./tables/suite_table.ts";
import { depthTable } from "./tables/depth_table.ts";
import { growthTable, modelTable } from "./tables/growth_tables.ts";
import type { GrowthRun, Results, Run, ScenarioRun } from "./run.ts";
import { ratioTable, scenariosOf, scenarioTable } from "./tables/scenario_tables.ts";
import { toMarkdown } from "./tables/table.ts";

const HEAD = `# Benchmarks

What does a request cost with Mongrove, beside the same by hand and beside other frameworks? Figures are ratios of the CPU time
of a server's process for one request: 1.00 is as much as by hand, less is better. "With a hook" and "Writes" are held against
Express with Mongoose, "Scenarios" against a server on bare \`node:http\`, the MongoDB driver and \`JSON.stringify\`.

\`deno task bench one --peer=remult\` measures one cell beside one other server, in about a minute on a quiet machine;
\`--peer=deno/express_lean\` does so on Deno, and \`--help\` lists scenarios and servers. \`deno task bench --write\` writes this
page and its charts: do not edit them.`;

const METHOD = `## How it is measured

- CPU time is user and system, all threads, from \`/proc\`, on the same runtime, in the same round. It is taken because, on a machine
  that also runs the database and the clients, requests per second depend on those as well.
- Every server is a process of its own, started with \`NODE_ENV=production\`, on the same data: documents
  of ${ITEM_BYTES} bytes of JSON text, ASCII only, in collections of up to ${
  SIZES.at(-1)?.toLocaleString("en-US")
} documents.
- Before anything is measured, the answers of every server are compared with what was seeded.
- All servers are warmed up, then measured in turn, round after round. A figure is the median of the
  rounds; "of rounds" shows the lowest and the highest ratio.
- Node and Deno run the same bundle of each server, with the same packages from npm.
- In "list of 100,000", every round starts a new process, warmed up with lists of 1,000; peak memory and
  first byte are those of the first answer.
- The hook looks at one field and keeps the entity. A server without hooks maps a function over
  its list.
- A page is sorted by an indexed field. Servers written by hand read the page and count at the same time,
  and populate by a second query for distinct identifiers, or as Mongoose does it. The others do as their
  documentation says. remult's transport does not populate.
- All connections ask for the same list, and for the same page.
- mongod and the load generator run on the same machine. "of rounds" shows how far rounds differ.`;

/** Writes the page. */
export function toPage(
  { scenarios, groups, hooks, writes, growth }: Results,
  sizes: readonly Sizes[],
): string {
  const parts = [HEAD];
  if (hooks) parts.push(...suitePart(hooks, HOOKS));
  if (scenarios) parts.push(...scenarioPart(scenarios));
  if (writes) parts.push(...suitePart(writes, WRITES));
  if (groups) parts.push(...suitePart(groups, GROUPS));
  if (growth) parts.push(...growthPart(growth));
  parts.push(METHOD, sizePart(sizes));
  return `${parts.join("\n\n")}\n`;
}

/** The history of bounds that CI holds. */
function sizePart(sizes: readonly Sizes[]): string {
  const show = (figure?: number) => figure?.toLocaleString("en-US") ?? "–";
  const rows = sizes.map(({ why, published, client, packages, instantiations }) => [
    why,
    ...[published, client, packages, instantiations].map(show),
  ]);
  const head = ["grown by", "bytes published", "client", "packages", "instantiations"];
  return `## Sizes

CI fails above the bounds of the last row; a change that is worth more adds a row. "client" is its bytes in a browser,
compressed; "packages" is how many npm installs for it, Express and Mongoose; "instantiations" is the work of tsc 5.9 for 200
models of 20 fields with six calls of the client for each.

${toMarkdown({ head, rows })}`;
}

function circumstances(run: Run): string {
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  return [
    ...run.partial === "" ? [] : [`**This was ${run.partial}.**`, ""],
    `- Command: \`${run.command}\``,
    `- Date: ${run.date}; rounds: ${run.rounds}`,
    `- Machine: ${run.machine}`,
    `- Versions: ${versions.join(", ")}`,
    ...run.notes.map((note) => `- Note: ${note}`),
  ].join("\n");
}

function scenarioPart(run: ScenarioRun): string[] {
  return [
    "## Scenarios",
    toMarkdown(ratioTable(run.figures)),
    "![Bars of the ratios of all servers](benchmarks.svg)",
    circumstances(run),
    "### Goals",
    'The goals were set before the work began. "best other" is the best of the servers that are not Mongrove and not the\nbaseline.',
    toMarkdown(goalTable(run.figures)),
    ...scenariosOf(run.figures).flatMap(({ name, title }) => [
      `### ${title} (\`${name}\`)`,
      toMarkdown(scenarioTable(run.figures, name)),
    ]),
  ];
}

interface SuiteWords {
  readonly title: string;
  readonly text: string;
}

const HOOKS: SuiteWords = {
  title: "With a hook",
  text:
    "One hook looks at a field of each entity. Held against Express and Mongoose by hand, which does the same: with documents\nwhere the hook gets documents, with `lean` where it gets plain objects, and without a hook against `lean`. In brackets:\nwhere the middle half of the rounds lies.",
};

const GROUPS: SuiteWords = {
  title: "Groups",
  text:
    "Counts and sums by a field, or by a field and a month. By hand means Express and the pipeline of the same groups by the driver.\nMost of the time is that of mongod. In brackets: where the middle half of the rounds lies.",
};

const WRITES: SuiteWords = {
  title: "Writes",
  text:
    "On a replica set of one server. By hand means Express and Mongoose: `insertMany()` in a transaction, `updateMany()` after a\ncount in one transaction, and `findOneAndReplace()` with `upsert`. In brackets: where the middle half of the rounds lies.",
};

function suitePart(run: ScenarioRun, { title, text }: SuiteWords): string[] {
  return [`## ${title}`, text, toMarkdown(suiteTable(run.figures)), circumstances(run)];
}

function growthPart(run: GrowthRun): string[] {
  const { documents, fields = [], connections, models, depth = [] } = run;
  return [
    "## How cost grows",
    "![CPU time per request by length, fields, connections, depth and models](growth.svg)",
    circumstances(run),
    "### With the length of a list",
    toMarkdown(growthTable(documents, "CPU ms/request, by documents", "cpuMs")),
    toMarkdown(growthTable(documents, "ratio, by documents", "ratio")),
    toMarkdown(growthTable(documents, "first byte ms, by documents", "firstByteMs")),
    ...fieldsPart(fields),
    "### With connections",
    toMarkdown(growthTable(connections, "CPU ms/request, by connections", "cpuMs")),
    toMarkdown(growthTable(connections, "ratio, by connections", "ratio")),
    toMarkdown(growthTable(connections, "requests/s, by connections", "perSecond")),
    ...depthPart(depth),
    "### With models",
    "The time to start includes the process, the runtime, all modules, a connection to the database, the models and\ntheir routes. The request is for one entity of the model that was mounted last.",
    toMarkdown(modelTable(models)),
  ];
}

function fieldsPart(fields: readonly Figure[]): string[] {
  if (fields.length === 0) return [];
  return [
    "### With the number of fields",
    `Lists of ${WIDE_COUNT} entities; a quarter of the fields each are texts, numbers, booleans and dates.`,
    toMarkdown(growthTable(fields, "CPU ms/request, by fields", "cpuMs")),
    toMarkdown(growthTable(fields, "ratio, by fields", "ratio")),
  ];
}

function depthPart(depth: readonly Figure[]): string[] {
  if (depth.length === 0) return [];
  return [
    "### With the depth of a page",
    "Pages of 20 of a collection of a million documents, sorted by an indexed field, behind the last entity of a page that the server\nhas shown before (`next`), behind any entity (`after`), and behind a number of entities (`skip`). The goal: behind an\nentity, every page costs as much as the first.",
    toMarkdown(depthTable(depth, "CPU ms/request, by depth", "cpuMs")),
    toMarkdown(depthTable(depth, "mongod ms/request, by depth", "databaseMs")),
    toMarkdown(depthTable(depth, "first byte ms, by depth", "firstByteMs")),
  ];
}
