import type { Figure } from "../figures/figure.ts";
import { OURS } from "../plan/servers.ts";
import { find, scenariosOf, serversOf, serverTitle } from "./tables/scenario_tables.ts";
import { showRatio } from "./tables/table.ts";

const WIDTH = 960;
const PANEL = 470;
const LABEL = 200;
const BAR = 13;
const STEP = 18;
const TITLE = 34;

/** A bar is no longer than this ratio; a longer one is cut, its figure tells. */
const LONGEST = 3;

const STYLE = "text{font:11.5px system-ui,sans-serif;fill:#333}" +
  ".title{font-size:14px;font-weight:600}.bar{fill:#b8c0cc}.ours{fill:#2f855a}.one{stroke:#888}.names{text-anchor:end}";

/** Draws the ratios: a panel for each scenario, a bar for each server. */
export function toChart(figures: readonly Figure[], caption: string): string {
  const scenarios = scenariosOf(figures);
  const servers = serversOf(figures);
  const height = TITLE + servers.length * STEP + 20;
  const panels = scenarios.map(({ name, title }, index) => {
    const x = 10 + (index % 2) * PANEL;
    const y = 50 + Math.floor(index / 2) * height;
    return `<g transform="translate(${x} ${y})">${panel(figures, name, title, servers)}</g>`;
  });
  const total = 60 + Math.ceil(scenarios.length / 2) * height;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${total}" role="img">
<title>CPU time per request as a ratio to the bare driver; less is better</title>
<style>${STYLE}</style>
<rect width="${WIDTH}" height="${total}" fill="#fff"/>
<text x="10" y="24">${escapeText(caption)}</text>
${panels.join("\n")}
</svg>
`;
}

function panel(
  figures: readonly Figure[],
  scenario: string,
  title: string,
  servers: readonly string[],
): string {
  const scale = (PANEL - LABEL - 60) / LONGEST;
  const shown = servers.filter((server) => find(figures, server, scenario) !== undefined);
  const bars = shown.map((server, row) => {
    const ratio = find(figures, server, scenario)?.ratio;
    const y = TITLE - 16 + row * STEP;
    const width = (Math.min(ratio || 0, LONGEST) * scale).toFixed(1);
    const look = server.endsWith(`/${OURS}`) ? "ours" : "bar";
    const bar = `<path class="${look}" d="M0 ${y}h${width}v${BAR}H0z"/>`;
    return `${bar}<text x="${Number(width) + 6}" y="${y + 11}">${showRatio(ratio)}</text>`;
  });
  const names = shown.map((server, row) =>
    `<text y="${TITLE - 5 + row * STEP}">${escapeText(serverTitle(server))}</text>`
  );
  const one = LABEL + scale;
  const bottom = TITLE - 16 + shown.length * STEP;
  return `<text class="title" y="6">${escapeText(title)}</text>` +
    `<g class="names" transform="translate(${LABEL - 6})">${names.join("")}</g>` +
    `<g transform="translate(${LABEL})">${bars.join("")}</g>` +
    `<line class="one" x1="${one}" x2="${one}" y1="${
      TITLE - 20
    }" y2="${bottom}" stroke-dasharray="2 3"/>`;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
