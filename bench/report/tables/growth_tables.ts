import type { Figure } from "../../figures/figure.ts";
import type { ModelFigure } from "../../figures/model_figure.ts";
import { serversOf, serverTitle } from "./scenario_tables.ts";
import { show, showRatio, type Table } from "./table.ts";

/** The growth of one figure: a row for each server, a column for each step. */
export function growthTable(
  figures: readonly Figure[],
  what: string,
  key: "ratio" | "cpuMs" | "firstByteMs" | "perSecond",
): Table {
  const steps = [...new Set(figures.map(({ scenario }) => scenario))];
  const at = (server: string, step: string) =>
    figures.find((figure) => figure.server === server && figure.scenario === step)?.[key];
  return {
    head: [what, ...steps.map((step) => Number(step).toLocaleString("en-US"))],
    rows: serversOf(figures).map((server) => [
      serverTitle(server),
      ...steps.map((step) => (key === "ratio" ? showRatio : show)(at(server, step))),
    ]),
  };
}

/** What models cost. */
export function modelTable(figures: readonly ModelFigure[]): Table {
  return {
    head: ["models", "start ms", "start CPU ms", "start MB", "one: CPU ms/request"],
    rows: figures.map((figure) => [
      `${figure.models}: ${serverTitle(figure.server)}`,
      show(figure.startMs),
      show(figure.startCpuMs),
      show(figure.startMb),
      show(figure.cpuMs),
    ]),
  };
}
