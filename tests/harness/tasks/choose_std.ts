import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openCache } from "../mongo/mongod_cache.ts";
import { reasonOf, say } from "../say.ts";

export interface ChooseStdOptions {
  isCached?: () => Promise<boolean>;
  isReachable?: () => Promise<boolean>;
}

/** The time for JSR to answer. */
const PROBE_MS = 1_500;

const PACKAGES = [
  "jsr:@std/assert@^1",
  "jsr:@std/testing@^1/mock",
  "jsr:@std/testing@^1/types",
];

const STAND_INS = new URL("../std/", import.meta.url);

/**
 * The tests' `jsr:@std/…` imports lead to the real packages if they are in Deno's cache or JSR answers, else to the
 * stand-ins. Returns environment variables.
 */
export async function chooseStd(
  options: ChooseStdOptions = {},
): Promise<Record<string, string>> {
  const { isCached = areCached, isReachable = doesJsrAnswer } = options;
  if (await isCached() || await isReachable()) return {};
  say("JSR is out of reach: stand-ins in tests/harness/std replace @std");
  return { JSR_URL: `${pathToFileURL(await copyStandIns(STAND_INS))}/` };
}

/**
 * Deno takes all files of a registry for published packages, which no code may import or check by its path. So the
 * registry is a copy, whose name depends on its content, so that it is checked only once.
 */
async function copyStandIns(from: URL): Promise<string> {
  const files = await readTree(from);
  const bytes = new TextEncoder().encode(JSON.stringify(files));
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  const cache = await openCache();
  const copy = join(cache, `std-${new Uint8Array(hash).toHex().slice(0, 16)}`);
  const isThere = await Deno.stat(copy).then(() => true, () => false);
  if (isThere) return copy;
  const partial = await Deno.makeTempDir({ dir: cache, prefix: "partial-" });
  for (const [path, text] of Object.entries(files)) {
    const target = join(partial, path);
    await Deno.mkdir(join(target, ".."), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
  // Another run may have been faster.
  await Deno.rename(partial, copy)
    .catch(() => Deno.remove(partial, { recursive: true }));
  return copy;
}

async function readTree(
  folder: URL,
  prefix = "",
): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const entries = await Array.fromAsync(Deno.readDir(folder));
  for (const { name, isDirectory } of entries.sort(byName)) {
    const path = prefix + name;
    if (isDirectory) {
      const below = await readTree(new URL(`${name}/`, folder), `${path}/`);
      Object.assign(files, below);
    } else files[path] = await Deno.readTextFile(new URL(name, folder));
  }
  return files;
}

function byName(a: Deno.DirEntry, b: Deno.DirEntry): number {
  return a.name < b.name ? -1 : 1;
}

async function areCached(): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--no-config", "--cached-only", "--quiet", ...PACKAGES],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}

async function doesJsrAnswer(): Promise<boolean> {
  const base = Deno.env.get("JSR_URL") || "https://jsr.io/";
  try {
    const url = new URL("@std/assert/meta.json", base);
    const signal = AbortSignal.timeout(PROBE_MS);
    const answer = await fetch(url, { signal });
    const { versions } = await answer.json();
    return versions !== undefined;
  } catch (error) {
    // A wrong address is reported, silence of the network is not.
    if (Deno.env.has("JSR_URL")) say(`JSR_URL: ${reasonOf(error)}`);
    return false;
  }
}
