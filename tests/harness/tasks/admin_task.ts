import { brotliCompressSync, constants } from "node:zlib";
import { type DenoResult, ROOT, runDeno } from "./run_deno.ts";

const PAGE = "admin/main.tsx";

/** Git ignores this module, and `deno publish` includes it. */
export const BUILT: URL = new URL("src/admin/built/page.js", ROOT);

/** Bundles `admin/` with React-admin and all its imports. */
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

/** Their changes change the script. */
const SOURCES = [
  ...["admin/", "src/admin/words.ts", "src/client/", "src/declare/", "deno.json"],
  "tests/harness/tasks/admin_task.ts",
];

/** Builds the script unless it is newer than its sources. */
export async function ensureAdminPage(): Promise<DenoResult> {
  return await isAdminPageBuilt() ? { code: 0, output: "" } : await buildAdminPage();
}

export async function isAdminPageBuilt(): Promise<boolean> {
  const built = await changedAt(BUILT).catch(() => 0);
  const changes = await Promise.all(SOURCES.map((path) => changedAt(new URL(path, ROOT))));
  return Math.max(...changes) < built;
}

export async function needAdminPage(): Promise<void> {
  const { code, output } = await ensureAdminPage();
  if (code !== 0) throw new Error(`Cannot build the admin page: ${output}`);
}

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
