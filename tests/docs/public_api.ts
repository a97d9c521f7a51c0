/**
 * Tells the public API in short: every name with its types, and the interfaces that these types use and that no export
 * names. What it prints is kept in `public_api.txt`, so that a reviewer sees each change of it:
 *
 * ```sh
 * deno run -A tests/docs/public_api.ts > tests/docs/public_api.txt
 * ```
 *
 * @module
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The folder and files that `deno doc` reads. */
const SOURCES = ["mod.ts", "src"];

/** An interface whose documentation is marked as internal. */
const INNER = /@internal(?:(?!\*\/)[^])*\*\/\n(?:\/\/.*\n)*export interface (\w+)/g;

/** The interfaces without an export, by the folder that has them. */
const UNNAMED = { "of the client": /^src\/client\//, "of the server": /^src\/(?!client\/)/ };

/** Describes every entry of the package. */
export async function describeApi(): Promise<string> {
  const config = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const folder = await Deno.makeTempDir({ prefix: "mongrove-api-" });
  try {
    await Deno.copyFile(join(ROOT, "deno.json"), join(folder, "deno.json"));
    const inner = new Map<string, string[]>();
    for (const source of SOURCES) await copyBare(source, folder, inner);
    const parts: string[] = [];
    for (const [name, path] of Object.entries<string>(config.exports)) {
      parts.push(`# ${config.name}${name.slice(1)}\n${await describe(folder, path)}`);
    }
    for (const [whose, pattern] of Object.entries(UNNAMED)) {
      const files = [...inner].filter(([path]) => pattern.test(path));
      parts.push(`# without an export, ${whose}\n${await describeInner(folder, new Map(files))}`);
    }
    return `${parts.join("\n\n")}\n`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Describes interfaces, given by the names of each file. */
async function describeInner(folder: string, names: Map<string, string[]>): Promise<string> {
  const forms: string[] = [];
  for (const [path, wanted] of names) {
    const all = (await describe(folder, path)).split("\n\n");
    forms.push(...all.filter((form) => wanted.includes(/^interface (\w+)/.exec(form)?.[1] ?? "")));
  }
  return forms.sort().join("\n\n");
}

/**
 * Copies sources without their documentation: `deno doc` then prints declarations only. Notes the internal interfaces of
 * each file in `inner`.
 */
async function copyBare(
  path: string,
  folder: string,
  inner: Map<string, string[]>,
): Promise<void> {
  if ((await Deno.stat(join(ROOT, path))).isDirectory) {
    for await (const { name } of Deno.readDir(join(ROOT, path))) {
      await copyBare(`${path}/${name}`, folder, inner);
    }
  } else if (!path.endsWith("_test.ts")) {
    const text = await Deno.readTextFile(join(ROOT, path));
    const names = Array.from(text.matchAll(INNER), ([, name = ""]) => name);
    if (names.length > 0) inner.set(path, names);
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text.replaceAll(/\/\*\*[^]*?\*\//g, ""));
  }
}

async function describe(cwd: string, path: string): Promise<string> {
  const env = { NO_COLOR: "1" };
  const args = ["doc", "--quiet", path];
  const { success, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd, env }).output();
  if (!success) throw new Error(`Cannot describe "${path}": deno doc failed`);
  return new TextDecoder().decode(stdout)
    .replaceAll(/^Defined in .*\n/gm, "")
    .replaceAll(/\n\n+/g, "\n\n")
    .replaceAll(/\n\n(?= )/g, "\n")
    .trim();
}

if (import.meta.main) await Deno.stdout.write(new TextEncoder().encode(await describeApi()));
