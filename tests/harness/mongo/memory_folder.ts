import { statfs } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** Files in memory on Linux. Deno needs all permissions for this folder. */
const MEMORY = "/dev/shm";

const PREFIX = "mongrove-mongod-";

/** The most that a few mongod and the tests need. */
const ROOM = 6 * 1024 ** 3;

/** Tests make and drop thousands of databases, which are faster in memory. `undefined` without enough memory. */
export async function memoryFolder(): Promise<string | undefined> {
  await removeLeft(MEMORY);
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  const room = Math.min(bavail * bsize, Deno.systemMemoryInfo().available);
  return room < ROOM ? undefined : await Deno.makeTempDir({ dir: MEMORY, prefix: PREFIX });
}

/** Removes the folders of killed runs. */
export async function removeLeft(folder: string, isRunning = mayRun): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  const folders = entries.filter(({ name }) => name.startsWith(PREFIX))
    .map(({ name }) => join(folder, name));
  await Promise.all(folders.map(async (each) => {
    const id = Number(await Deno.readTextFile(join(each, "mongod.lock")).catch(() => NaN));
    if (id > 0 && !isRunning(id)) {
      await Deno.remove(each, { recursive: true }).catch(() => {});
    }
  }));
}

/** `true` without the permission to ask. */
function mayRun(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return Object(error).code !== "ESRCH";
  }
}
