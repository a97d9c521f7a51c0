import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPackages } from "./packages.ts";

/**
 * Makes one JavaScript module of a program and all that it imports by path, for Node and Deno alike;
 * packages stay outside of it.
 *
 * @param entry The program's path below `bench/`.
 * @param target The file to write.
 * @throws {Error} If the bundler refuses it.
 */
export async function bundle(entry: string, target: string): Promise<void> {
  const { path } = await openPackages("tools");
  const { success, stderr } = await new Deno.Command("node", {
    args: [
      join(path, "node_modules", "esbuild", "bin", "esbuild"),
      fileURLToPath(new URL(`../${entry}`, import.meta.url)),
      "--bundle",
      "--format=esm",
      "--platform=node",
      "--target=node20",
      "--packages=external",
      "--log-level=error",
      `--outfile=${target}`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const [line = ""] = new TextDecoder().decode(stderr).trim().split("\n");
  throw new Error(`esbuild refuses ${entry}: ${line}`);
}
