import { assertEquals } from "@std/assert";
import type { Connection } from "mongoose";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { client } from "../support/client.ts";
import { Tab } from "./support/admin_page.ts";
import { startChromium } from "./support/chromium.ts";
import { type DataSet, openDataSets } from "./support/data_sets.ts";
import { makeDenoApp, type NewApp } from "./support/new_app.ts";

const KEY = "secret";

/** A list of the admin page, an entity in it, and the fields whose values are not all shown as they are stored. */
const SETS: Readonly<Record<string, readonly [place: string, text: string, differing: string[]]>> =
  {
    // The name of a member of Mongoose's documents, and two titles that are numbers.
    movies: ["/movies", "The Land Girls", ["flare.parent", "movies.Title"]],
    shop: ["/Products", "Chai", []],
    geography: ["/countries", "ABW", [
      "country-by-cities.states",
      "country-by-geo-coordinates.east",
      "country-by-geo-coordinates.north",
      "country-by-geo-coordinates.south",
      "country-by-geo-coordinates.west",
    ]],
  };

async function importSet({ db }: Connection, set: DataSet): Promise<void> {
  for (const [name, entities] of Object.entries(set)) {
    await db?.collection(name).insertMany(entities.map((each) => ({ ...each })));
  }
}

/** Checks types as this repository does, whose sources the application uses. */
async function useOwnCompilerOptions({ folder }: NewApp): Promise<void> {
  const path = join(folder, "deno.json");
  const own = new URL("../../deno.json", import.meta.url);
  const { compilerOptions } = JSON.parse(await Deno.readTextFile(own));
  const config = JSON.parse(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, compilerOptions }));
  await Deno.remove(join(folder, "tsconfig.json"));
}

/** Returns the fields whose values an application does not show as they are stored. */
async function differences(url: string, set: DataSet): Promise<string[]> {
  const { read } = client(url, { authorization: KEY });
  const differing = new Set<string>();
  for (const [name, entities] of Object.entries(set)) {
    for (let skip = 0; skip < entities.length && skip < 300; skip += 100) {
      const shown = await read<Record<string, unknown>[]>(`/${name}?limit=100&skip=${skip}`);
      for (const [index, entity] of entities.slice(skip, skip + 100).entries()) {
        for (const [field, value] of Object.entries(entity)) {
          const isShown = JSON.stringify(shown[index]?.[field] ?? null) === JSON.stringify(value);
          if (!isShown) differing.add(`${name}.${field}`);
        }
      }
    }
  }
  return [...differing].sort();
}

async function checkPage(url: string, place: string, text: string): Promise<void> {
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${url}/admin/#${place}`);
  const tab = new Tab(opened.page);
  await tab.page.locator("input[type=password]").fill(KEY);
  await tab.page.locator("button[type=submit]").click();
  await tab.page.waitForSelector(`tbody ::-p-text(${text})`);
  assertEquals(opened.complaints.filter((each) => !/401/.test(each)), []);
}

for (const [index, [name, [place, text, differing]]] of Object.entries(SETS).entries()) {
  test(`new --from shows the data set "${name}", and the written test passes`, async () => {
    const { [name]: set = {} } = await openDataSets();
    await using database = await openDatabase();
    await importSet(database.connection, set);
    await using app = await makeDenoApp({ from: database.uri, plain: index % 2 === 1 });
    await useOwnCompilerOptions(app);
    await app.run("test", [], {});
    await using started = await app.start({ MONGODB_URI: database.uri, API_KEY: KEY });
    assertEquals(await differences(started.url, set), differing);
    await checkPage(started.url, place, text);
  });
}
