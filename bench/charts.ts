/** The charts of `docs/`. @module */
import type { Figure } from "./figures.ts";
import type { GrowthRun, ScenarioRun } from "./report.ts";
import { OURS, serverTitle } from "./servers.ts";
import { finder, scenariosOf, serversOf, showRatio, stepsOf } from "./tables.ts";

/** The width of an image of two columns, and of a panel. */
const WIDTH = 960;
const PANEL = 470;

interface Image {
  readonly title: string;
  readonly caption: string;
  readonly style: string;
  readonly panels: readonly string[];
  readonly panelHeight: number;
  readonly height: number;
}

/** Draws panels in two columns, without indentation, which would be a third of the bytes. */
function draw({ title, caption, style, panels, panelHeight, height }: Image): string {
  const placed = panels.map((panel, index) => {
    const y = 50 + Math.floor(index / 2) * panelHeight;
    return `<g transform="translate(${10 + (index % 2) * PANEL} ${y})">${panel}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${title}</title>
<style>text{font:11.5px system-ui,sans-serif;fill:#333}.title{font-size:14px;font-weight:600}${style}</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="10" y="24">${caption}</text>
${placed.join("\n")}
</svg>
`;
}

/** The sizes of bars, the place of their labels, and the ratio of the longest bar. */
const BARS = { label: 200, height: 13, step: 18, top: 18, longest: 3 };

/** Draws the ratios: a panel for each scenario, a bar for each server. */
export function toChart({ figures, date, machine }: ScenarioRun): string {
  const scenarios = scenariosOf(figures);
  const panelHeight = 54 + serversOf(figures).length * BARS.step;
  const caption = "CPU time per request, as a ratio to node:http + driver + JSON.stringify;";
  return draw({
    title: "CPU time per request as a ratio to the bare driver; less is better",
    caption: `${caption} less is better. ${date}, ${machine}`,
    style: ".bar{fill:#b8c0cc}.ours{fill:#2f855a}.one{stroke:#888}.names{text-anchor:end}",
    panels: scenarios.map(({ name, title }) =>
      drawBars(title, figures.filter(({ scenario }) => scenario === name))
    ),
    panelHeight,
    height: 60 + Math.ceil(scenarios.length / 2) * panelHeight,
  });
}

function drawBars(title: string, figures: readonly Figure[]): string {
  const { label, height, step, top, longest } = BARS;
  const scale = (PANEL - label - 60) / longest;
  const servers = serversOf(figures);
  const bars = servers.map((server, row) => {
    const ratio = figures.find((figure) => figure.server === server)?.ratio;
    const y = top + row * step;
    const width = (Math.min(ratio || 0, longest) * scale).toFixed(1);
    const look = server.endsWith(`/${OURS}`) ? "ours" : "bar";
    const bar = `<path class="${look}" d="M0 ${y}h${width}v${height}H0z"/>`;
    return `${bar}<text x="${Number(width) + 6}" y="${y + 11}">${showRatio(ratio)}</text>`;
  });
  const names = servers.map((server, row) =>
    `<text y="${top + 11 + row * step}">${serverTitle(server)}</text>`
  );
  const one = label + scale;
  return `<text class="title" y="6">${title}</text>` +
    `<g class="names" transform="translate(${label - 6})">${names.join("")}</g>` +
    `<g transform="translate(${label})">${bars.join("")}</g>` +
    `<line class="one" x1="${one}" x2="${one}" y1="14" y2="${
      top + servers.length * step
    }" stroke-dasharray="2 3"/>`;
}

/** The place of the lines in a panel. Figures are on its left, names on its right. */
const LINES = { left: 50, top: 30, width: 250, height: 170 };

/** The colours of Mongrove's lines, and of the lines of other servers. */
const OWN = ["#2f855a", "#2b6cb0", "#c05621", "#68d391", "#63b3ed", "#f6ad55"];
const OTHER = ["#a0aec0", "#4a5568"];

/** Draws how cost grows: a panel for each part of `--growth`, a line for each server. */
export function toGrowthChart(run: GrowthRun): string {
  const { date, machine, documents, fields, connections, depth, models } = run;
  const counts = [...new Set(models.map(({ models }) => models))];
  const panels = [
    panelOf("a list of so many entities", documents),
    panelOf("a list of 20, by fields of an entity", fields),
    panelOf("one entity, by connections", connections),
    panelOf("a page of 20 with mongod, by its place", depth),
    {
      title: "one entity, by models",
      steps: counts.map(String),
      lines: [...new Set(models.map(({ server }) => server))].map((server) => ({
        name: serverTitle(server),
        isOther: false,
        values: counts.map((count) =>
          models.find((each) => each.server === server && each.models === count)?.cpuMs ?? NaN
        ),
      })),
    },
  ].filter(({ steps }) => steps.length > 0);
  return draw({
    title: "CPU time per request as lists, entities, connections, pages and models grow",
    caption: `CPU milliseconds per request. ${date}, ${machine}`,
    style:
      ".grid{stroke:#ddd}.line{fill:none;stroke-width:2}.mid{text-anchor:middle}.end{text-anchor:end}",
    panels: panels.map(drawLines),
    panelHeight: 250,
    height: 50 + Math.ceil(panels.length / 2) * 250,
  });
}

/** Returns a panel with a line for each server and way to the same step. */
function panelOf(title: string, figures: readonly Figure[]) {
  const { steps, ways } = stepsOf(figures);
  const find = finder(figures);
  const lines = serversOf(figures).flatMap((server) =>
    ways.map((way) => ({
      name: way ? `${way}, ${serverTitle(server).split(", ")[1]}` : serverTitle(server),
      isOther: !server.endsWith(`/${OURS}`),
      values: steps.map((step) => {
        const { cpuMs = NaN, databaseMs = NaN } = find(server, `${way} ${step}`.trim());
        return way ? cpuMs + databaseMs : cpuMs;
      }),
    }))
  );
  return { title, steps, lines };
}

function isDrawn(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

function drawLines({ title, steps, lines }: ReturnType<typeof panelOf>): string {
  const { left, top, width, height } = LINES;
  const all = lines.flatMap(({ values }) => values).filter(isDrawn).map(Math.log10);
  const from = Math.floor(Math.min(...all));
  const to = Math.max(Math.ceil(Math.max(...all)), from + 1);
  const xAt = (step: number) => left + width * step / Math.max(1, steps.length - 1);
  const yAt = (value: number) => top + height * (to - Math.log10(value)) / (to - from);
  const grid = Array.from({ length: to - from + 1 }, (_, power) => {
    const y = yAt(10 ** (from + power));
    return `<path class="grid" d="M${left} ${y}h${width}"/>` +
      `<text class="end" x="${left - 6}" y="${y + 4}">${10 ** (from + power)}</text>`;
  });
  const names = steps.map((step, index) => {
    const name = step.replace(/000000$/, "M").replace(/000$/, "k").replace("999980", "last");
    return `<text class="mid" x="${xAt(index)}" y="${top + height + 18}">${name}</text>`;
  });
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
