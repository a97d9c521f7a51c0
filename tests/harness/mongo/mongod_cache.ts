import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMongodVersion } from "./mongod_version.ts";

export interface CacheOptions {
  env?: (name: string) => string | undefined;
}

const HOUR = 3_600_000;
const PARTIAL = "partial-";

function readEnv(name: string): string | undefined {
  return Deno.env.get(name) || undefined;
}

function cacheHomes(env: (name: string) => string | undefined): string[] {
  const home = env("HOME") ?? env("USERPROFILE");
  const below = home ? join(home, ".cache") : undefined;
  return [env("XDG_CACHE_HOME"), env("LOCALAPPDATA"), below]
    .flatMap((folder) => folder || []);
}

function sharedTemp(): string {
  return join(tmpdir(), `mongrove-cache-${Deno.uid() ?? "user"}`);
}

async function isOurs(folder: string): Promise<boolean> {
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    const { uid } = await Deno.stat(folder);
    await Deno.remove(await Deno.makeTempFile({ dir: folder }));
    return uid === null || uid === Deno.uid();
  } catch {
    return false;
  }
}

/**
 * Returns the folder of fetched binaries, outside of the repository, or a fresh one where no lasting one can be
 * written.
 */
export async function openCache(options: CacheOptions = {}): Promise<string> {
  const { env = readEnv } = options;
  const homes = cacheHomes(env).map((home) => join(home, "mongrove"));
  for (const folder of [...homes, sharedTemp()]) {
    if (await isOurs(folder)) return folder;
  }
  return await Deno.makeTempDir({ prefix: "mongrove-" });
}

/** Lists binaries that this project or mongodb-memory-server has fetched, ours first. None has been tried yet. */
export async function listCached(
  options: CacheOptions = {},
): Promise<string[]> {
  const { env = readEnv } = options;
  const homes = cacheHomes(env);
  const folders = [
    ...homes.map((home) => join(home, "mongrove")),
    sharedTemp(),
    ...homes.map((home) => join(home, "mongodb-binaries")),
  ];
  const lists = await Promise.all(folders.map(listMongods));
  return lists.flat();
}

async function listMongods(folder: string): Promise<string[]> {
  const paths: string[] = [];
  try {
    // In a folder for temporary files, anybody may have put something there.
    const { uid } = await Deno.stat(folder);
    if (uid !== null && uid !== Deno.uid()) return [];
    for await (const { name, isFile } of Deno.readDir(folder)) {
      const isMongod = /^mongod\b/.test(name) && !/\.(md5|lock)$/.test(name);
      if (isFile && isMongod) paths.push(join(folder, name));
    }
  } catch {
    return [];
  }
  return paths.sort().reverse();
}

export interface StoreBinaryOptions {
  name: string;
  /** Fetches the binary into the folder and returns its path. */
  fetch: (folder: string) => Promise<string>;
  readVersion?: (path: string) => Promise<string>;
}

/**
 * The binary is unpacked beside the cache, tried, then moved in one step, so that an aborted fetch leaves nothing that
 * looks whole.
 */
export async function storeBinary(
  cache: string,
  options: StoreBinaryOptions,
): Promise<string> {
  const { name, fetch, readVersion = readMongodVersion } = options;
  await removeLeftovers(cache);
  const partial = await Deno.makeTempDir({ dir: cache, prefix: PARTIAL });
  try {
    const fetched = await fetch(partial);
    if (Deno.build.os !== "windows") await Deno.chmod(fetched, 0o755);
    await readVersion(fetched);
    const kept = join(cache, name);
    await Deno.rename(fetched, kept);
    return kept;
  } finally {
    await Deno.remove(partial, { recursive: true });
  }
}

/** Removes the rest of aborted fetches after an hour. */
async function removeLeftovers(cache: string): Promise<void> {
  for await (const { name } of Deno.readDir(cache)) {
    if (!name.startsWith(PARTIAL)) continue;
    const path = join(cache, name);
    const { mtime } = await Deno.stat(path);
    if (mtime && Date.now() - mtime.getTime() < HOUR) continue;
    await Deno.remove(path, { recursive: true });
  }
}
