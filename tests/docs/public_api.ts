/**
 * Tells the public API in short: every name with its types. What it prints is kept in `public_api.txt`, so that a
 * reviewer sees each change of it:
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

/** Describes every entry of the package. */
export async function describeApi(): Promise<string> {
  const config = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const folder = await Deno.makeTempDir({ prefix: "mongrove-api-" });
  try {
    await Deno.copyFile(join(ROOT, "deno.json"), join(folder, "deno.json"));
    for (const source of SOURCES) await copyBare(source, folder);
    const parts: string[] = [];
    for (const [name, path] of Object.entries<string>(config.exports)) {
      parts.push(`# ${config.name}${name.slice(1)}\n${await describe(folder, path)}`);
    }
    return `${parts.join("\n\n")}\n`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Copies sources without their documentation: `deno doc` then prints declarations only. */
async function copyBare(path: string, folder: string): Promise<void> {
  if ((await Deno.stat(join(ROOT, path))).isDirectory) {
    for await (const { name } of Deno.readDir(join(ROOT, path))) {
      await copyBare(`${path}/${name}`, folder);
    }
  } else if (!path.endsWith("_test.ts")) {
    const text = await Deno.readTextFile(join(ROOT, path));
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
