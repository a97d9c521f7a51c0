import type { Buffer } from "node:buffer";
import { brotliCompressSync, constants } from "node:zlib";
import { type DenoResult, ROOT, runDeno } from "./run_deno.ts";

const PAGE = "admin/main.tsx";

export interface AdminPageOptions {
  /**
   * The script is some percent larger than the published one, and takes a sixth of the time.
   *
   * @default {false}
   */
  readonly isQuick?: boolean;
}

/** The first line of a script that must not be published. */
const QUICK = "// Quick";

/** Git ignores this module, and `deno publish` includes it. */
export const BUILT: URL = new URL("src/admin/built/page.js", ROOT);

/** Bundles `admin/` with React-admin and all its imports. */
export async function buildAdminPage(
  { isQuick = false }: AdminPageOptions = {},
): Promise<DenoResult> {
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
    const code = await Deno.readTextFile(script);
    const bytes = isQuick
      ? brotliCompressSync(code, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
      : await compress(code);
    await Deno.mkdir(new URL("./", BUILT), { recursive: true });
    const first = isQuick ? `${QUICK}\n` : "";
    await Deno.writeTextFile(BUILT, `${first}export const PAGE = "${bytes.toString("base64")}";\n`);
    return { code: 0, output: `${bytes.length} bytes, compressed` };
  } finally {
    await Deno.remove(script);
  }
}

async function compress(script: string): Promise<Buffer> {
  // Terser makes the script 6 % smaller than the bundler does.
  const { minify } = await import("npm:terser@5");
  // Libraries warn only their developers.
  const compress = { passes: 3, "pure_funcs": ["console.warn"] };
  const options = { module: true, ecma: 2020, compress } as const;
  const { code = "" } = await minify(script, options);
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  return brotliCompressSync(code, { params });
}

/** The script depends on them. */
const SOURCES = [
  ...["admin/", "src/admin/words.ts", "src/client/", "src/declare/", "deno.json"],
  "tests/harness/tasks/admin_task.ts",
];

/** Builds the script unless it is newer than its sources. */
export async function ensureAdminPage(options: AdminPageOptions = {}): Promise<DenoResult> {
  return await isAdminPageBuilt(options) ? { code: 0, output: "" } : await buildAdminPage(options);
}

/** Whether the script is newer than its sources. */
export async function isAdminPageBuilt(
  { isQuick = false }: AdminPageOptions = {},
): Promise<boolean> {
  const text = await Deno.readTextFile(BUILT).catch(() => "");
  if (text === "" || text.startsWith(QUICK) && !isQuick) return false;
  const built = await changedAt(BUILT);
  const changes = await Promise.all(SOURCES.map((path) => changedAt(new URL(path, ROOT))));
  return Math.max(...changes) < built;
}

/** Throws if the script cannot be built. */
export async function needAdminPage(options: AdminPageOptions = {}): Promise<void> {
  const { code, output } = await ensureAdminPage(options);
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
