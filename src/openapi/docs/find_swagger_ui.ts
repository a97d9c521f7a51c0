import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

/** Where the files of swagger-ui lie, or why the page cannot be shown. */
export type SwaggerUi = { readonly folder: string } | { readonly missing: string };

const NAME = "swagger-ui-dist";

const INSTALL = `This page needs the package ${NAME}: ` +
  `run "npm i ${NAME}" or "deno add npm:${NAME}"`;

const ALLOW = `This page needs to read the files of ${NAME}: run Deno with --allow-read`;

/** The file that is the interface. */
export const BUNDLE = "swagger-ui-bundle.js";

/** Finds the package in the application that runs. It is not part of this one, and nothing is fetched. */
export async function findSwaggerUi(): Promise<SwaggerUi> {
  const folder = await askPackage() ?? lookInProject();
  if (folder === undefined) return { missing: INSTALL };
  try {
    await access(join(folder, BUNDLE));
    return { folder };
  } catch {
    return { missing: ALLOW };
  }
}

/** The package tells its own place. This is how Deno finds it, wherever it keeps packages. */
async function askPackage(): Promise<string | undefined> {
  // Not a literal: nothing may look for the package before it is needed
  const path = `${NAME}/absolute-path.js`;
  try {
    const { default: tell } = await import(path) as { default: () => string };
    return tell();
  } catch {
    return undefined;
  }
}

/** Finds the package in the project, for installers that show packages only what these name. */
function lookInProject(): string | undefined {
  try {
    const project = createRequire(join(process.cwd(), "main.js"));
    return dirname(project.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}
