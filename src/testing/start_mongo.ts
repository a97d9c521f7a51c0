import process from "node:process";
import { type ChildProcess, execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { loadMemoryServer, type MemoryServer } from "./memory_server.ts";
import type { TestMongo } from "./test_mongo.ts";

/** Options of {@linkcode startMongo}. */
export interface StartMongoOptions {
  /**
   * The number of members of the replica set. Transactions and live lists need at least 1. With 0, the server belongs
   * to no replica set.
   *
   * @default {0}
   */
  readonly replicaSet?: number;
}

const DATABASE = "test";

/** The largest replica set. */
const MOST_MEMBERS = 50;

/** Transactions need the storage engine WiredTiger. */
const STORAGE_ENGINE = "wiredTiger";

/**
 * A killed `mongod` would leave its Unix socket in the folder of temporary files. On Windows, `mongod` has no socket
 * and refuses the argument.
 */
const ARGUMENTS = process.platform === "win32" ? [] : ["--nounixsocket"];

const WAYS_OUT = "set MONGOMS_SYSTEM_BINARY to the path of a mongod, or install one on PATH";

/**
 * Starts a MongoDB for a test on a free port of 127.0.0.1. Its data is deleted when it stops.
 *
 * Install the package mongodb-memory-server with `npm i -D mongodb-memory-server` or
 * `deno add npm:mongodb-memory-server`. It runs the `mongod` at the path in `MONGOMS_SYSTEM_BINARY`, or else the first
 * on `PATH` of version 6.0 or newer. If there is none, or `MONGOMS_VERSION` asks for a version, the package downloads a
 * `mongod` on first use.
 *
 * @returns The running MongoDB. To stop it, call `stop()` or use `await using`.
 * @throws {RangeError} If `replicaSet` is not an integer from 0 to 50.
 * @throws {TypeError} If an option is unknown.
 * @throws {Error} If the package is missing, or if no `mongod` is installed and the download fails.
 *
 * @example Test with a real MongoDB
 * ```ts ignore
 * import mongoose from "mongoose";
 * import { getModel } from "@mongrove/mongrove";
 * import { startMongo } from "@mongrove/mongrove/testing";
 * import { Movie } from "./movie.ts";
 *
 * Deno.test("movies are counted", async () => {
 *   await using mongo = await startMongo();
 *   await mongoose.connect(mongo.uri);
 *   await getModel(Movie).create({ name: "Alien", description: "A crew answers a signal." });
 *   console.assert(await getModel(Movie).countDocuments() === 1);
 *   await mongoose.disconnect();
 * });
 * ```
 *
 * @example Start a replica set, for transactions
 * ```ts ignore
 * await using mongo = await startMongo({ replicaSet: 1 });
 * ```
 */
export async function startMongo(options: StartMongoOptions = {}): Promise<TestMongo> {
  const { replicaSet = 0, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new TypeError(
      `Cannot start MongoDB: there is no option "${unknown}" (dbName is one of mongoose.connect())`,
    );
  }
  if (!Number.isInteger(replicaSet) || replicaSet < 0 || replicaSet > MOST_MEMBERS) {
    throw new RangeError(`Cannot start MongoDB: replicaSet is ${replicaSet}, not a count`);
  }
  const server = await createServer(replicaSet);
  const end = async () => {
    await endProcesses(server);
    await server.stop({ doCleanup: true, force: true });
  };
  let ended: Promise<void> | undefined;
  const stop = () => ended ??= end();
  return { uri: server.getUri(DATABASE), stop, [Symbol.asyncDispose]: stop };
}

async function createServer(count: number): Promise<MemoryServer> {
  const { MongoMemoryReplSet, MongoMemoryServer } = await loadMemoryServer();
  const installed = await findMongod();
  const binary = installed && { binary: installed };
  const options = { storageEngine: STORAGE_ENGINE, args: ARGUMENTS };
  try {
    return count === 0
      ? await MongoMemoryServer.create({ ...binary, instance: options })
      : await MongoMemoryReplSet.create({ ...binary, replSet: { count, ...options } });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot start MongoDB: ${WAYS_OUT}: ${reason}`, { cause });
  }
}

/**
 * With Deno's permission `--allow-run=mongod`, mongodb-memory-server would leave processes running, because it may not
 * check whether they run, and treats the refusal as their end.
 */
export async function endProcesses(server: MemoryServer): Promise<void> {
  const { servers = [server] } = server;
  const children = servers.flatMap(({ instanceInfo }) => {
    const { mongodProcess, killerProcess } = instanceInfo?.instance ?? {};
    return [mongodProcess, killerProcess].flatMap((child) => child ?? []);
  });
  await Promise.all(children.map(end));
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => {
    child.ref();
    child.once("exit", resolve);
    child.kill("SIGKILL");
  });
}

/** The option `binary` of mongodb-memory-server. */
interface InstalledMongod {
  readonly systemBinary: string;
  readonly version: string;
}

/** The oldest supported major version of MongoDB. */
const OLDEST = 6;

const FILE = process.platform === "win32" ? "mongod.exe" : "mongod";

/**
 * If `MONGOMS_SYSTEM_BINARY` or `MONGOMS_VERSION` is set, mongodb-memory-server finds or downloads a `mongod` itself.
 */
async function findMongod(): Promise<InstalledMongod | undefined> {
  const { PATH = "", MONGOMS_SYSTEM_BINARY, MONGOMS_VERSION } = process.env;
  if (MONGOMS_SYSTEM_BINARY || MONGOMS_VERSION) return undefined;
  for (const folder of PATH.split(delimiter)) {
    const systemBinary = join(folder, FILE);
    const version = folder === "" ? undefined : await readVersion(systemBinary);
    if (version !== undefined && parseInt(version) >= OLDEST) return { systemBinary, version };
  }
  return undefined;
}

async function readVersion(path: string): Promise<string | undefined> {
  try {
    await access(path);
    const { stdout } = await promisify(execFile)(path, ["--version"]);
    return /db version v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
