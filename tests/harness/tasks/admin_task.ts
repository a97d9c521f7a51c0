import { brotliCompressSync, constants } from "node:zlib";
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
    // Terser makes the script 6 % smaller than the bundler does.
    const { minify } = await import("npm:terser@5");
    const options = { module: true, ecma: 2020, compress: { passes: 2 } } as const;
    const { code = "" } = await minify(await Deno.readTextFile(script), options);
    const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
    const bytes = brotliCompressSync(code, { params });
    await Deno.mkdir(new URL("./", BUILT), { recursive: true });
    await Deno.writeTextFile(BUILT, `export const PAGE = "${bytes.toString("base64")}";\n`);
    return { code: 0, output: `${bytes.length} bytes, compressed` };
  } finally {
    await Deno.remove(script);
  }
}

/** The folders and files whose changes change the script. */
const SOURCES = [
  ...["admin/", "src/admin/words.ts", "src/client/", "src/declare/", "deno.json"],
  "tests/harness/tasks/admin_task.ts",
];

/**
 * Builds the script of the admin page, unless it is newer than its sources.
 *
 * @returns What became of `deno bundle`.
 */
export async function ensureAdminPage(): Promise<DenoResult> {
  return await isAdminPageBuilt() ? { code: 0, output: "" } : await buildAdminPage();
}

/** Whether the script of the admin page is newer than its sources. */
export async function isAdminPageBuilt(): Promise<boolean> {
  const built = await changedAt(BUILT).catch(() => 0);
  const changes = await Promise.all(SOURCES.map((path) => changedAt(new URL(path, ROOT))));
  return Math.max(...changes) < built;
}

/** Builds the script of the admin page as `ensureAdminPage()` does, or throws. */
export async function needAdminPage(): Promise<void> {
  const { code, output } = await ensureAdminPage();
  if (code !== 0) throw new Error(`Cannot build the admin page: ${output}`);
}

/** Returns the time of the latest change of a file, or of the files in a folder. */
async function changedAt(place: URL): Promise<number> {
  const { isDirectory, mtime } = await Deno.stat(place);
  if (!isDirectory) return mtime?.getTime() ?? 0;
  const names = await Array.fromAsync(Deno.readDir(place));
  const times = await Promise.all(
    names.map(({ name, isDirectory }) =>
      changedAt(new URL(isDirectory ? `${name}/` : name, place))
    ),
  );
  return Math.max(0, ...times);
}
