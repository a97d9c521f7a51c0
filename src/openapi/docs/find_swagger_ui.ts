import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

/** The folder with the files of swagger-ui, or the reason why the page cannot be shown. */
export type SwaggerUi = { readonly folder: string } | { readonly missing: string };

const NAME = "swagger-ui-dist";

const INSTALL = `This page needs the package ${NAME}: ` +
  `run "npm i ${NAME}" or "deno add npm:${NAME}"`;

const ALLOW = `This page needs to read the files of ${NAME}: run Deno with --allow-read`;

/** The file with the script of swagger-ui. The page cannot be shown if this file cannot be read. */
export const BUNDLE = "swagger-ui-bundle.js";

/**
 * Finds the package swagger-ui-dist among the packages of the application. The package is not a dependency of Mongrove,
 * and nothing is downloaded.
 */
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

/**
 * Returns the folder that the package itself reports. With Deno, this works wherever packages are stored. Returns
 * `undefined` if Mongrove cannot import the package.
 */
async function askPackage(): Promise<string | undefined> {
  // The path is no literal, so that no tool resolves the package before it is needed. The application may not have
  // installed it.
  const path = `${NAME}/absolute-path.js`;
  try {
    const { default: tell } = await import(path) as { default: () => string };
    return tell();
  } catch {
    return undefined;
  }
}

/**
 * Returns the folder of the package as the project resolves it. Some installers let a package import only its declared
 * dependencies, so an import from Mongrove would fail. Returns `undefined` if the project has no such package.
 */
function lookInProject(): string | undefined {
  try {
    const project = createRequire(join(process.cwd(), "main.js"));
    return dirname(project.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}
