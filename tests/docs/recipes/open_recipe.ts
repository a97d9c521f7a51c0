import type { RequestListener } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, client } from "../../support/client.ts";
import { openDatabase } from "../../harness/database.ts";
import { start } from "../../support/support.ts";
import { makeProject, type Project } from "../tutorial/make_project.ts";
import { readSteps } from "../tutorial/read_steps.ts";

/** A recipe that listens, over a database of its own, and the client that speaks to it. */
export type OpenRecipe = Client & AsyncDisposable;

/**
 * Loads the application of a page.
 *
 * @param path The page.
 * @param title The heading above the files of the application.
 * @param change Adds to the text of `app.ts`.
 * @returns What serves it, each time on a new database: of the MongoDB at a URI, if it gets one.
 */
export async function loadRecipe(
  path: string,
  title: string,
  change: (code: string) => string = (code) => code,
): Promise<(mongo?: string) => Promise<OpenRecipe>> {
  const page = await Deno.readTextFile(new URL(`../../../${path}`, import.meta.url));
  const recipe = readSteps(page).find((step) => step.title === title);
  return await loadFiles(recipe?.files ?? {}, change);
}

/** Loads an application of files, of which `app.ts` is the main one. */
export async function loadFiles(
  { "app.ts": code = "", ...files }: Readonly<Record<string, string>>,
  change: (code: string) => string = (code) => code,
): Promise<(mongo?: string) => Promise<OpenRecipe>> {
  await using project = await makeProject();
  await project.write({ ...files, "app.ts": change(code) });
  const app = await importApp(project);
  return (mongo) => openApp(app, mongo);
}

/** Serves an application on a new database: of the MongoDB at a URI, if it gets one. */
export async function openApp(app: RequestListener, mongo?: string): Promise<OpenRecipe> {
  const database = await openDatabase(mongo);
  const served = await start(app);
  return {
    ...client(served),
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Imports the application of a project, whose packages are those that tests import. */
export async function importApp({ folder }: Project): Promise<RequestListener> {
  const url = pathToFileURL(join(folder, "app.ts")).href;
  // deno-lint-ignore mongrove/literal-import -- the file has just been written
  const { app, buildApp } = await import(url) as {
    app?: RequestListener;
    buildApp(): RequestListener;
  };
  return app ?? buildApp();
}
