import { statfs } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** Where Linux has files in memory. Deno lets only those who may do all use it. */
const MEMORY = "/dev/shm";

const PREFIX = "mongrove-mongod-";

/** What the files of a few mongod, and those of the tests, need at most. */
const ROOM = 6 * 1024 ** 3;

/**
 * Makes a folder for the files of a mongod in memory: tests make and drop thousands of databases.
 *
 * @returns The folder; `undefined` where there is not enough memory.
 */
export async function memoryFolder(): Promise<string | undefined> {
  await removeLeft(MEMORY);
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  const room = Math.min(bavail * bsize, Deno.systemMemoryInfo().available);
  return room < ROOM ? undefined : await Deno.makeTempDir({ dir: MEMORY, prefix: PREFIX });
}

/** Removes what is left of runs that were killed. */
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

/** Whether a process runs, or may: who may not ask does not know. */
function mayRun(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return Object(error).code !== "ESRCH";
  }
}
