import { join } from "node:path";
import { openCache } from "../../harness/mongo/mongod_cache.ts";
import { say } from "../../harness/say.ts";
import { runCommand } from "../../reach/support/run_command.ts";

/** A tool of Python that lies in a folder of its own, which the machine's Python does not see. */
export interface PythonTool {
  /** The variables for the Python that runs it. */
  readonly env: Record<string, string>;
}

const PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"];

/**
 * Opens a tool of Python's registry, and installs it into the cache if it is not there yet.
 *
 * @param requirement Such as `"schemathesis==4.32.0"`.
 * @throws {Error} If there is no python3 with pip, or the registry does not answer; pip's output is in the message.
 */
export async function openPythonTool(requirement: string): Promise<PythonTool> {
  const cache = await openCache();
  const python = await runCommand("python3", [
    "-c",
    "import sys; print(sys.implementation.cache_tag)",
  ], { cwd: cache });
  const kept = join(cache, `${python}-${requirement}`);
  const path = `${join(kept, "bin")}:${Deno.env.get("PATH")}`;
  const env = { PYTHONPATH: kept, PYTHONDONTWRITEBYTECODE: "1", PATH: path };
  if (await Deno.stat(kept).then(() => true, () => false)) return { env };
  say(`Installing ${requirement} from PyPI`);
  // Moved in one step, so that an installation that is cut off leaves nothing that looks whole
  const partial = await Deno.makeTempDir({ dir: cache, prefix: "partial-" });
  try {
    await runCommand("python3", [...PIP, "--target", partial, requirement], { cwd: cache });
    await Deno.rename(partial, kept);
  } catch (error) {
    await Deno.remove(partial, { recursive: true });
    throw error;
  }
  return { env };
}

/** Opens Schemathesis. */
export function openSchemathesis(): Promise<PythonTool> {
  return openPythonTool("schemathesis==4.32.0");
}

/** Opens a generator of clients in Python. */
export function openPythonClient(): Promise<PythonTool> {
  return openPythonTool("openapi-python-client==0.29.1");
}
