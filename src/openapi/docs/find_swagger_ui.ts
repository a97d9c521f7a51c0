import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

export type SwaggerUi = { readonly folder: string } | { readonly missing: string };

const NAME = "swagger-ui-dist";

const INSTALL = `This page needs the package ${NAME}: ` +
  `run "npm i ${NAME}" or "deno add npm:${NAME}"`;

const ALLOW = `This page needs to read the files of ${NAME}: run Deno with --allow-read`;

export const BUNDLE = "swagger-ui-bundle.js";

/** Nothing is downloaded: the application must install swagger-ui-dist. */
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

/** swagger-ui-dist knows its folder, wherever Deno stores packages. */
async function askPackage(): Promise<string | undefined> {
  // For a literal, bundlers and type checkers would look for the package, which may be missing.
  const path = `${NAME}/absolute-path.js`;
  try {
    const { default: getPath } = await import(path) as { default: () => string };
    return getPath();
  } catch {
    return undefined;
  }
}

/** Some installers let a package import only its declared dependencies. */
function lookInProject(): string | undefined {
  try {
    const project = createRequire(join(process.cwd(), "main.js"));
    return dirname(project.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}
