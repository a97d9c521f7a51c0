import type { RequestListener } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, client } from "../client.ts";
import { openDatabase } from "../harness/database.ts";
import { start } from "../support.ts";
import { makeProject } from "../tutorial/make_project.ts";
import { readSteps } from "../tutorial/read_steps.ts";

/** A recipe that listens, over a database of its own, and the client that speaks to it. */
export type OpenRecipe = Client & AsyncDisposable;

/**
 * Loads the application of a page.
 *
 * @param path The page.
 * @param title The heading above the files of the application.
 * @returns What serves it, each time on a new database.
 */
export async function loadRecipe(path: string, title: string): Promise<() => Promise<OpenRecipe>> {
  const page = await Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const recipe = readSteps(page).find((step) => step.title === title);
  await using project = await makeProject();
  await project.write(recipe?.files ?? {});
  const url = pathToFileURL(join(project.folder, "app.ts")).href;
  const { app } = await import(url) as { app: RequestListener };
  return async () => {
    const database = await openDatabase();
    const served = await start(app);
    return {
      ...client(served),
      async [Symbol.asyncDispose]() {
        await served.stop();
        await database[Symbol.asyncDispose]();
      },
    };
  };
}

/**
 * Imports a package of npm. Its types are not looked for: they are those of a whole user interface.
 *
 * @typeParam T What is used of it.
 */
export async function importClient<T>(specifier: string): Promise<T> {
  return await import(specifier) as T;
}
