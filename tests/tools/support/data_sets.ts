import { createRequire } from "node:module";
import { join } from "node:path";
import { openCache } from "../../harness/mongo/mongod_cache.ts";
import { runCommand } from "../../reach/support/run_command.ts";

const PACKAGES = ["vega-datasets@3", "northwind-data@2", "world-countries@5", "country-json@2"];

/** The entities of collections, by name. */
export type DataSet = Readonly<Record<string, readonly object[]>>;

/** Files of vega-datasets: lists, a tree as a list, graphs and maps. */
const VEGA = [
  ...["movies", "cars", "penguins", "monarchs", "flare", "weekly-weather"],
  ...["miserables", "earthquakes", "londonTubeLines", "world-110m"],
];

const COUNTRIES = ["languages", "geo-coordinates", "cities"].map((name) => `country-by-${name}`);

/** Opens data of npm packages that others have made, and installs the packages into the cache if they are not there. */
export async function openDataSets(): Promise<Readonly<Record<string, DataSet>>> {
  const folder = join(await openCache(), "data-sets");
  if (!await Deno.stat(join(folder, "node_modules")).then(() => true, () => false)) {
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(join(folder, "package.json"), "{}");
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES];
    await runCommand("npm", args, { cwd: folder });
  }
  const read = async (path: string): Promise<object[]> => {
    const value = JSON.parse(await Deno.readTextFile(join(folder, "node_modules", path)));
    return Array.isArray(value) ? value : [value];
  };
  const readAll = async (names: readonly string[], pathOf: (name: string) => string) =>
    Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await read(pathOf(name))] as const)),
    );
  const shop = createRequire(join(folder, "main.js"))("northwind-data");
  return {
    movies: await readAll(VEGA, (name) => `vega-datasets/data/${name}.json`),
    // The package has a function too.
    shop: Object.fromEntries(
      Object.entries<object[]>(shop).filter(([, rows]) => Array.isArray(rows)),
    ),
    geography: {
      countries: await read("world-countries/countries.json"),
      ...await readAll(COUNTRIES, (name) => `country-json/src/${name}.json`),
    },
  };
}
