import { gzipSync } from "node:zlib";
import { type DenoResult, ROOT, runDeno } from "./run_deno.ts";

const PAGE = "admin/main.tsx";

/** The module with the built script. Git ignores it, and `deno publish` includes it. */
export const BUILT: URL = new URL("src/admin/built/page.js", ROOT);

/**
 * Builds the script of the admin page from `admin/`, with React-admin and all that it imports.
 *
 * @returns What became of `deno bundle`.
 */
export async function buildAdminPage(): Promise<DenoResult> {
  const script = await Deno.makeTempFile({ suffix: ".js" });
  try {
    const args = [
      "bundle",
      "--quiet",
      "--platform=browser",
      "--minify",
      `--output=${script}`,
      PAGE,
    ];
    const bundled = await runDeno(args, { capture: true });
    if (bundled.code !== 0) return bundled;
    const bytes = gzipSync(await Deno.readFile(script), { level: 9 });
    await Deno.mkdir(new URL("./", BUILT), { recursive: true });
    await Deno.writeTextFile(BUILT, `export const PAGE = "${bytes.toString("base64")}";\n`);
    return { code: 0, output: `${bytes.length} bytes, gzipped` };
  } finally {
    await Deno.remove(script);
  }
}

/** Builds the script of the admin page, unless it is built already. */
export async function ensureAdminPage(): Promise<void> {
  const isBuilt = await Deno.stat(BUILT).then(() => true, () => false);
  if (isBuilt) return;
  const { code, output } = await buildAdminPage();
  if (code !== 0) throw new Error(`Cannot build the admin page: ${output}`);
}
