import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

/** `missing` has the reason why the documentation page cannot be shown. */
export type SwaggerUi = { readonly folder: string } | { readonly missing: string };

const NAME = "swagger-ui-dist";

const INSTALL = `This page needs the package ${NAME}: ` +
  `run "npm i ${NAME}" or "deno add npm:${NAME}"`;

const ALLOW = `This page needs to read the files of ${NAME}: run Deno with --allow-read`;

/** Without this file, the documentation page cannot be shown. */
export const BUNDLE = "swagger-ui-bundle.js";

/** The package is not a dependency of Mongrove, so the application must install it. Nothing is downloaded. */
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

/** The path that the package exports is right wherever Deno stores packages. */
async function askPackage(): Promise<string | undefined> {
  // Bundlers and type checkers must not look for swagger-ui-dist, which the application may not have installed. So the
  // path is no literal.
  const path = `${NAME}/absolute-path.js`;
  try {
    const { default: tell } = await import(path) as { default: () => string };
    return tell();
  } catch {
    return undefined;
  }
}

/**
 * Some installers let a package import only its declared dependencies, so that Mongrove cannot import swagger-ui-dist.
 */
function lookInProject(): string | undefined {
  try {
    const project = createRequire(join(process.cwd(), "main.js"));
    return dirname(project.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}
