/** The charts of `docs/`. @module */
import type { Figure } from "./figures.ts";
import type { GrowthRun, ScenarioRun } from "./report.ts";
import { OURS } from "./servers.ts";
import { finder, scenariosOf, serversOf, showRatio, stepsOf } from "./tables.ts";

/** The width of an image of two columns, and of a panel. */
const WIDTH = 960;
const PANEL = 470;

/** Draws panels in two columns, without indentation, which would be a third of the bytes. */
function draw(
  { title, caption, style }: Readonly<Record<"title" | "caption" | "style", string>>,
  panels: readonly string[],
  { panelHeight, margin }: Readonly<Record<"panelHeight" | "margin", number>>,
): string {
  const height = margin + Math.ceil(panels.length / 2) * panelHeight;
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
  const caption = "CPU time per request, as a ratio to node:http + driver + JSON.stringify;";
  const texts = {
    title: "CPU time per request as a ratio to the bare driver; less is better",
    caption: `${caption} less is better. ${date}, ${machine}`,
    style: ".bar{fill:#b8c0cc}.ours{fill:#2f855a}.one{stroke:#888}.names{text-anchor:end}",
  };
  const panels = scenariosOf(figures).map(({ name, title }) =>
    drawBars(title, figures.filter(({ scenario }) => scenario === name))
  );
  const panelHeight = 54 + serversOf(figures).length * BARS.step;
  return draw(texts, panels, { panelHeight, margin: 60 });
}

function drawBars(title: string, figures: readonly Figure[]): string {
  const { label, height, step, top, longest } = BARS;
  const scale = (PANEL - label - 60) / longest;
  const servers = serversOf(figures);
  const bars = servers.map(({ id, name }, row) => {
    const ratio = figures.find(({ server }) => server === id)?.ratio;
    const y = top + row * step;
    const width = (Math.min(ratio || 0, longest) * scale).toFixed(1);
    const look = name === OURS ? "ours" : "bar";
    const bar = `<path class="${look}" d="M0 ${y}h${width}v${height}H0z"/>`;
    return `${bar}<text x="${Number(width) + 6}" y="${y + 11}">${showRatio(ratio)}</text>`;
  });
  const names = servers.map(({ title }, row) =>
    `<text y="${top + 11 + row * step}">${title}</text>`
  );
  const [one, end] = [label + scale, top + servers.length * step];
  return [
    `<text class="title" y="6">${title}</text>`,
    `<g class="names" transform="translate(${label - 6})">${names.join("")}</g>`,
    `<g transform="translate(${label})">${bars.join("")}</g>`,
    `<line class="one" x1="${one}" x2="${one}" y1="14" y2="${end}" stroke-dasharray="2 3"/>`,
  ].join("");
}

/** The place of the lines in a panel. Figures are on its left, names on its right. */
const LINES = { left: 50, top: 30, width: 250, height: 170 };

/** The colours of Mongrove's lines, and of the lines of other servers. */
const OWN = ["#2f855a", "#2b6cb0", "#c05621", "#68d391", "#63b3ed", "#f6ad55"];
const OTHER = ["#a0aec0", "#4a5568"];

/** Draws how cost grows: a panel for each part of `--growth`, a line for each server. */
export function toGrowthChart(run: GrowthRun): string {
  // Numbers of models are a part like the others
  const models = run.models.map(({ models, ...figure }) => ({ ...figure, scenario: `${models}` }));
  const panels = ([
    ["a list of so many entities", run.documents],
    ["a list of 20, by fields of an entity", run.fields],
    ["one entity, by connections", run.connections],
    ["a page of 20 with mongod, by its place", run.depth],
    ["one entity, by models", models],
  ] as const).filter(([, figures]) => figures.length > 0);
  const texts = {
    title: "CPU time per request as lists, entities, connections, pages and models grow",
    caption: `CPU milliseconds per request. ${run.date}, ${run.machine}`,
    style:
      ".grid{stroke:#ddd}.line{fill:none;stroke-width:2}.mid{text-anchor:middle}.end{text-anchor:end}",
  };
  const drawn = panels.map(([title, figures]) => drawLines(title, figures));
  return draw(texts, drawn, { panelHeight: 250, margin: 50 });
}

type Drawn = Pick<Figure, "scenario" | "server" | "cpuMs"> & Partial<Figure>;

/** Draws a line for each server and way to the same step. */
function drawLines(title: string, figures: readonly Drawn[]): string {
  const { left, top, width, height } = LINES;
  const { steps, ways } = stepsOf(figures);
  const find = finder(figures);
  const isDrawn = (value: number) => Number.isFinite(value) && value > 0;
  const lines = serversOf(figures).flatMap(({ id, name, title }) =>
    ways.map((way) => {
      const values = steps.map((step) => {
        const { cpuMs = NaN, databaseMs = NaN } = find(id, `${way} ${step}`.trim());
        return way ? cpuMs + databaseMs : cpuMs;
      });
      const words = way ? `${way}, ${title.split(", ")[1]}` : title;
      return { isOurs: name === OURS, words, values };
    })
  );
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
  const drawn = lines.map(({ isOurs, words, values }, index) => {
    const points = values.flatMap((value, step) =>
      isDrawn(value) ? [`${xAt(step).toFixed(1)},${yAt(value).toFixed(1)}`] : []
    );
    const colour = (isOurs ? own : other).next().value;
    const y = top + 12 + index * 18;
    return `<polyline class="line" stroke="${colour}" points="${points.join(" ")}"/>` +
      `<path d="M${left + width + 14} ${y - 4}h14" stroke="${colour}" stroke-width="3"/>` +
      `<text x="${left + width + 34}" y="${y}">${words}</text>`;
  });
  return `<text class="title" x="6" y="14">${title}</text>` +
    [...grid, ...names, ...drawn].join("");
}
