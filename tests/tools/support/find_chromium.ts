import { join } from "node:path";
import { say } from "../../harness/say.ts";
import { runCommand } from "../../reach/support/run_command.ts";

/** What Chromium is called where it is installed. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const ADVICE = "Cannot find Chromium: install it (`apt-get install chromium` on Debian), " +
  "or set CHROMIUM to its path";

const APT = { cwd: "/", env: { DEBIAN_FRONTEND: "noninteractive" } };

/**
 * Finds Chromium: the path in `CHROMIUM`, or what `PATH` has. On Debian, root gets it installed.
 *
 * @returns The path of the binary.
 * @throws {Error} If there is none; the message says what to do.
 */
export async function findChromium(): Promise<string> {
  const given = Deno.env.get("CHROMIUM") || await searchPath();
  if (given) return given;
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) throw new Error(ADVICE);
  say("Installing Chromium");
  await runCommand("apt-get", ["update", "-qq"], APT);
  const args = ["install", "-y", "-qq", "--no-install-recommends", "chromium"];
  await runCommand("apt-get", args, APT);
  const installed = await searchPath();
  if (installed === undefined) throw new Error(ADVICE);
  return installed;
}

async function searchPath(): Promise<string | undefined> {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  for (const path of NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    const isFile = await Deno.stat(path).then((info) => info.isFile, () => false);
    if (isFile) return path;
  }
}
