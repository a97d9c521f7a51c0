import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

/**
 * The folder with the files of the package swagger-ui-dist, or the reason why the documentation page `/docs` cannot be
 * shown.
 */
export type SwaggerUi = { readonly folder: string } | { readonly missing: string };

const NAME = "swagger-ui-dist";

const INSTALL = `This page needs the package ${NAME}: ` +
  `run "npm i ${NAME}" or "deno add npm:${NAME}"`;

const ALLOW = `This page needs to read the files of ${NAME}: run Deno with --allow-read`;

/**
 * The file of swagger-ui-dist with the script of Swagger UI. The documentation page cannot be shown if this file cannot
 * be read.
 */
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
 * Returns the folder of the package swagger-ui-dist, which the package exports in `absolute-path.js`. The exported path
 * is right wherever Deno stores packages. Returns `undefined` if Mongrove cannot import the package.
 */
async function askPackage(): Promise<string | undefined> {
  // The path of the import is no literal, so that bundlers and type checkers do not look for swagger-ui-dist, which the
  // application may not have installed.
  const path = `${NAME}/absolute-path.js`;
  try {
    const { default: tell } = await import(path) as { default: () => string };
    return tell();
  } catch {
    return undefined;
  }
}

/**
 * Returns the folder of swagger-ui-dist among the packages of the application in the working directory. Some installers
 * let a package import only its declared dependencies, so that Mongrove cannot import swagger-ui-dist. Returns
 * `undefined` if the application has not installed the package.
 */
function lookInProject(): string | undefined {
  try {
    const project = createRequire(join(process.cwd(), "main.js"));
    return dirname(project.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}
