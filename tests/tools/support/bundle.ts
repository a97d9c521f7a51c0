import { fileURLToPath } from "node:url";
import { build } from "npm:esbuild@0.28";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const SETTINGS = {
  alias: {
    "@mongrove/mongrove/client": "./src/client/mod.ts",
    "@mongrove/mongrove/tanstack": "./src/tanstack/mod.ts",
  },
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  platform: "browser",
  target: "es2022",
  logLevel: "silent",
} as const;

function inputOf(code: string) {
  return { contents: code, resolveDir: ROOT, loader: "ts" } as const;
}

/** Options of {@linkcode bundle}. */
export interface BundleOptions {
  /** Whether it is made small. */
  readonly minify?: boolean;
  /** Whether it is a module, or a script for a page. */
  readonly format: "esm" | "iife";
}

/**
 * Bundles code as an application for browsers does. The client and its collections are those of this repository.
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
    ...SETTINGS,
    stdin: inputOf(code),
    minify,
    format,
  });
  return { text: outputFiles[0]?.text ?? "", files: Object.keys(metafile.inputs) };
}

/**
 * Bundles code as an application for browsers does that loads parts of itself when they are needed.
 *
 * @param code The code.
 * @returns The texts of the small modules, by the names of their files without a hash. `stdin` and the modules named
 * `chunk` are loaded at once.
 */
export async function bundleInParts(code: string): Promise<[name: string, text: string][]> {
  const options = { splitting: true, outdir: "parts", minify: true, format: "esm" } as const;
  const { outputFiles } = await build({ ...SETTINGS, stdin: inputOf(code), ...options });
  return outputFiles.map(({ path, text }) => [/([a-z]+)[^/]*$/.exec(path)?.[1] ?? "", text]);
}
