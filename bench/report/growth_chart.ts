import type { Figure } from "../figures/figure.ts";
import { nameOf, WAYS } from "../plan/depth.ts";
import { OURS } from "../plan/servers.ts";
import type { GrowthRun } from "./run.ts";
import { find, serversOf, serverTitle } from "./tables/scenario_tables.ts";

const WIDTH = 960;
const PANEL = { width: 470, height: 250 };
/** The room of the lines in a panel: what is left is for the figures and the names. */
const LINES = { left: 50, top: 30, width: 250, height: 170 };

/** The colours of Mongrove's lines, and of those that they are held against. */
const OWN = ["#2f855a", "#2b6cb0", "#c05621", "#68d391", "#63b3ed", "#f6ad55"];
const OTHER = ["#a0aec0", "#4a5568"];

const STYLE = "text{font:11.5px system-ui,sans-serif;fill:#333}.title{font-size:14px;" +
  "font-weight:600}.grid{stroke:#ddd}.line{fill:none;stroke-width:2}.mid{text-anchor:middle}" +
  ".end{text-anchor:end}";

interface Line {
  readonly name: string;
  /** Whether it is not Mongrove's. */
  readonly isOther?: boolean;
  readonly values: readonly (number | undefined)[];
}

interface Panel {
  readonly title: string;
  readonly steps: readonly string[];
  readonly lines: readonly Line[];
}

/** Draws how cost grows: a panel for each thing that grows, a line for each server. */
export function toGrowthChart(run: GrowthRun, caption: string): string {
  const panels = panelsOf(run).filter(({ steps }) => steps.length > 0);
  const total = 50 + Math.ceil(panels.length / 2) * PANEL.height;
  const drawn = panels.map((panel, index) => {
    const x = 10 + (index % 2) * PANEL.width;
    const y = 50 + Math.floor(index / 2) * PANEL.height;
    return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${total}" role="img">
<title>CPU time per request as lists, entities, connections, pages and models grow</title>
<style>${STYLE}</style>
<rect width="${WIDTH}" height="${total}" fill="#fff"/>
<text x="10" y="24">${caption}</text>
${drawn.join("\n")}
</svg>
`;
}

function panelsOf({ documents, fields = [], connections, depth = [], models }: GrowthRun): Panel[] {
  const counts = [...new Set(models.map(({ models }) => models))];
  const servers = [...new Set(models.map(({ server }) => server))];
  return [
    byScenario("a list of so many entities", documents),
    byScenario("a list of 20, by fields of an entity", fields),
    byScenario("one entity, by connections", connections),
    byDepth(depth),
    {
      title: "one entity, by models",
      steps: counts.map(String),
      lines: servers.map((server) => ({
        name: serverTitle(server),
        values: counts.map((count) =>
          models.find((each) => each.server === server && each.models === count)?.cpuMs
        ),
      })),
    },
  ];
}

function byScenario(title: string, figures: readonly Figure[]): Panel {
  const steps = [...new Set(figures.map(({ scenario }) => scenario))];
  const lines = serversOf(figures).map((server) => ({
    name: serverTitle(server),
    isOther: !server.endsWith(`/${OURS}`),
    values: steps.map((step) => find(figures, server, step)?.cpuMs),
  }));
  return { title, steps, lines };
}

/** Pages are read by Mongrove alone, by the way to the page. */
function byDepth(figures: readonly Figure[]): Panel {
  const depths = [...new Set(figures.map(({ scenario }) => Number(scenario.split(" ")[1])))];
  const lines = serversOf(figures).filter((server) => server.endsWith(`/${OURS}`))
    .flatMap((server) =>
      WAYS.map((way) => ({
        name: `${way}, ${serverTitle(server).split(", ")[1]}`,
        values: depths.map((depth) => {
          const { cpuMs = NaN, databaseMs = NaN } = find(figures, server, nameOf(way, depth)) ?? {};
          return cpuMs + databaseMs;
        }),
      }))
    );
  return { title: "a page of 20 with mongod, by its place", steps: depths.map(String), lines };
}

function drawPanel({ title, steps, lines }: Panel): string {
  const { left, top, width, height } = LINES;
  const all = lines.flatMap(({ values }) => values.filter(isDrawn));
  const [low, high] = [Math.min(...all), Math.max(...all)].map(Math.log10) as [number, number];
  const from = Math.floor(low);
  const to = Math.max(Math.ceil(high), from + 1);
  const xAt = (step: number) => left + width * step / Math.max(1, steps.length - 1);
  const yAt = (value: number) => top + height * (to - Math.log10(value)) / (to - from);
  const grid = Array.from({ length: to - from + 1 }, (_, power) => {
    const y = yAt(10 ** (from + power));
    return `<path class="grid" d="M${left} ${y}h${width}"/>` +
      `<text class="end" x="${left - 6}" y="${y + 4}">${10 ** (from + power)}</text>`;
  });
  const names = steps.map((step, index) =>
    `<text class="mid" x="${xAt(index)}" y="${top + height + 18}">${shorten(step)}</text>`
  );
  const [own, other] = [OWN.values(), OTHER.values()];
  const drawn = lines.map(({ name, isOther, values }, index) => {
    const points = values.flatMap((value, step) =>
      isDrawn(value) ? [`${xAt(step).toFixed(1)},${yAt(value).toFixed(1)}`] : []
    );
    const colour = (isOther ? other : own).next().value;
    const y = top + 12 + index * 18;
    return `<polyline class="line" stroke="${colour}" points="${points.join(" ")}"/>` +
      `<path d="M${left + width + 14} ${y - 4}h14" stroke="${colour}" stroke-width="3"/>` +
      `<text x="${left + width + 34}" y="${y}">${name}</text>`;
  });
  return `<text class="title" x="6" y="14">${title}</text>` +
    [...grid, ...names, ...drawn].join("");
}

/** Writes 100000 as 100k. */
function shorten(step: string): string {
  return step.replace(/000000$/, "M").replace(/000$/, "k").replace("999980", "last");
}

function isDrawn(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0;
}
