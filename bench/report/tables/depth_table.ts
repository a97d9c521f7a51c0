import type { Figure } from "../../figures/figure.ts";
import { nameOf, type Way, WAYS } from "../../plan/depth.ts";
import { find, serversOf, serverTitle } from "./scenario_tables.ts";
import { show, type Table } from "./table.ts";

/** One figure of pages: a row for each server and way to a page, a column for each depth. */
export function depthTable(
  figures: readonly Figure[],
  what: string,
  key: "cpuMs" | "databaseMs" | "firstByteMs",
): Table {
  const depths = [...new Set(figures.map(({ scenario }) => Number(scenario.split(" ")[1])))];
  const cells = (server: string, way: Way) =>
    depths.map((depth) => show(find(figures, server, nameOf(way, depth))?.[key]));
  return {
    head: [what, ...depths.map((depth) => depth.toLocaleString("en-US"))],
    rows: serversOf(figures).flatMap((server) =>
      WAYS.map((way) => [`${way}: ${serverTitle(server)}`, ...cells(server, way)])
    ),
  };
}
