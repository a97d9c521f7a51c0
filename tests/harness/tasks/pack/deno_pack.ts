import { join } from "node:path/posix";
import { runDeno } from "../run_deno.ts";
import { readTar } from "./read_tar.ts";
import { type Files, writePackage } from "./stage_package.ts";

export interface NpmPackage {
  readonly manifest: Record<string, unknown> & { readonly version: string };
  readonly tarball: Uint8Array;
  readonly files: Files;
}

/** `deno pack` makes a package close to the one of JSR for npm. */
export async function denoPack(name: string, source: Files): Promise<NpmPackage> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-pack-" });
  try {
    const config = JSON.parse(source.get("deno.json") ?? "");
    const named = new Map(source).set("deno.json", JSON.stringify({ ...config, name }));
    await writePackage(folder, named);
    const archive = join(folder, "package.tgz");
    const args = ["pack", "--allow-dirty", "--no-source-maps", `--output=${archive}`];
    const { code, output } = await runDeno(args, { capture: true, cwd: folder });
    if (code !== 0) throw new Error(`Cannot pack: ${output}`);
    const tarball = await Deno.readFile(archive);
    const files = new Map<string, string>();
    for (const [path, bytes] of await readTar(tarball)) {
      files.set(path.replace("package/", ""), new TextDecoder().decode(bytes));
    }
    return { manifest: JSON.parse(files.get("package.json") ?? ""), tarball, files };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
