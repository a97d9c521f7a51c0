import { dirname, join } from "node:path/posix";
import { needAdminPage } from "../admin_task.ts";
import { type DenoResult, ROOT, runDeno } from "../run_deno.ts";
import { dropComments } from "./drop_comments.ts";
import { tabIndents } from "./tab_indents.ts";
import { mendLinks } from "./mend_links.ts";

export type Files = ReadonlyMap<string, string>;

interface Config {
  readonly exports: Readonly<Record<string, string>>;
}

/** `deno.json` excludes all, so that nobody publishes a clone without its admin page. */
const INCLUDED = ["mod.ts", "src", "docs", "README.md", "SKILL.md", "LICENSE"];

const EXCLUDED = [
  "**/*_test.ts",
  "docs/*.json",
  "docs/*.png",
  "docs/*.svg",
  // Read before an installation, or in the repository
  "docs/benchmarks.md",
  "docs/from_*.md",
  "docs/scaling.md",
  "docs/tracker.md",
];

export const ADMIN_PAGE = "src/admin/built/page.js";

export async function listPublished(): Promise<string[]> {
  const files = await Promise.all(INCLUDED.map(listFiles));
  const excluded = EXCLUDED.map((glob) => new URLPattern({ pathname: `/${glob}` }));
  const isExcluded = (path: string) => excluded.some((each) => each.test({ pathname: `/${path}` }));
  return files.flat().filter((path) => !isExcluded(path)).sort();
}

/**
 * Only modules from which users import names keep comments, of what JSR shows, and indents of two bytes. Pages lose
 * pictures and links that are not published.
 */
export async function stagePackage(): Promise<Files> {
  await needAdminPage();
  const config = await readConfig();
  const published = new Set(await listPublished());
  if (!published.has(ADMIN_PAGE)) throw new Error(`Cannot make a package without ${ADMIN_PAGE}`);
  const documented = await listDocumented(Object.values(config.exports));
  const files = new Map<string, string>();
  for (const path of published) {
    const text = await readRepository(path);
    const isCode = /\.[jt]s$/.test(path) && path !== ADMIN_PAGE;
    if (path.endsWith(".md")) files.set(path, mendLinks(text, { page: path, published }));
    else if (!isCode) files.set(path, text);
    else if (documented.has(path)) files.set(path, dropComments(text, { isDocumented: true }));
    else files.set(path, tabIndents(dropComments(text)));
  }
  const { tasks: _, lint: _lint, fmt: _fmt, scopes: _scopes, ...rest } = config as
    & Config
    & Record<string, unknown>;
  // Deno would leave out files that Git ignores.
  files.set("deno.json", JSON.stringify({ ...rest, publish: { exclude: ["!**"] } }, null, 2));
  return files;
}

/** Replaces the folder. */
export async function writePackage(folder: string, files: Files): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  for (const [path, text] of files) {
    await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
}

/** Checks as `deno publish` does with these arguments, and publishes nothing. */
export async function publishDry(...args: string[]): Promise<DenoResult> {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-publish-" });
  try {
    await writePackage(cwd, await stagePackage());
    return await runDeno(["publish", "--dry-run", "--allow-dirty", ...args], {
      capture: true,
      cwd,
    });
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

/** Editors and JSR show the comments of these modules. */
async function listDocumented(exports: readonly string[]): Promise<ReadonlySet<string>> {
  const paths = new Set(exports.map((path) => join(path)));
  for (const path of paths) {
    const sources = (await readRepository(path))
      .matchAll(/^export (?:type )?(?:\{[^}]*\}|\*.*) from "(\.[^"]+)"/gm);
    for (const [, source = ""] of sources) paths.add(join(dirname(path), source));
  }
  return paths;
}

async function readConfig(): Promise<Config> {
  return JSON.parse(await readRepository("deno.json"));
}

async function readRepository(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}

async function listFiles(path: string): Promise<string[]> {
  const { isDirectory } = await Deno.stat(new URL(path, ROOT));
  if (!isDirectory) return [path];
  const entries = await Array.fromAsync(Deno.readDir(new URL(`${path}/`, ROOT)));
  return (await Promise.all(entries.map(({ name }) => listFiles(`${path}/${name}`)))).flat();
}
