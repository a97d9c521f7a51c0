import { dirname, join } from "node:path";
import { runCommand } from "../support/run_command.ts";
import { readTar } from "./read_tar.ts";

/** A package as npm gets it. */
export interface NpmPackage {
  /** Its `package.json`. */
  readonly manifest: Record<string, unknown> & { readonly version: string };
  /** The archive. */
  readonly tarball: Uint8Array;
}

/**
 * Makes the npm package of a published version by `deno pack`: close to the one that JSR makes.
 *
 * @param name Its name on npm.
 * @param files What was published.
 * @returns The package.
 */
export async function packForNpm(
  name: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<NpmPackage> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-pack-" });
  try {
    for (const [path, bytes] of files) {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      await Deno.writeFile(join(folder, path), bytes);
    }
    const config = JSON.parse(await Deno.readTextFile(join(folder, "deno.json")));
    await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify({ ...config, name }));
    await runCommand(Deno.execPath(), ["pack", "--allow-dirty"], { cwd: folder });
    const tarball = await Deno.readFile(join(folder, await findArchive(folder)));
    const manifest = (await readTar(tarball)).get("package/package.json");
    return { manifest: JSON.parse(new TextDecoder().decode(manifest)), tarball };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function findArchive(folder: string): Promise<string> {
  for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".tgz")) return name;
  throw new Error("Cannot pack: deno pack left no archive");
}
