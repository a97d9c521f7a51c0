import { fileURLToPath } from "node:url";
import { build } from "npm:esbuild@0.28";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Options of {@linkcode bundle}. */
export interface BundleOptions {
  /** Whether it is made small. */
  readonly minify?: boolean;
  /** Whether it is a module, or a script for a page. */
  readonly format: "esm" | "iife";
}

/**
 * Bundles code as an application for browsers does. `@mongrove/mongrove/client` in it is the client of this repository.
 *
 * @param code The code.
 * @param options See {@linkcode BundleOptions}.
 * @returns The text of the bundle, and the paths of the files that are in it.
 */
export async function bundle(
  code: string,
  { minify = false, format }: BundleOptions,
): Promise<{ readonly text: string; readonly files: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: ROOT, loader: "ts" },
    alias: { "@mongrove/mongrove/client": "./src/client/mod.ts" },
    ...{ bundle: true, write: false, metafile: true, platform: "browser", target: "es2022" },
    ...{ absWorkingDir: ROOT, minify, format, logLevel: "silent" },
  });
  return { text: outputFiles[0]?.text ?? "", files: Object.keys(metafile.inputs) };
}
