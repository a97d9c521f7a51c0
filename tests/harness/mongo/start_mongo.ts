import { MongoMemoryReplSet, MongoMemoryServer } from "mongodb-memory-server";
import { endProcesses } from "../../../src/testing/start_mongo.ts";
import { freePort } from "../free_port.ts";
import { findMongo, findMongod, type FoundMongod } from "./find_mongo.ts";
import { memoryFolder } from "./memory_folder.ts";

export interface StartMongoOptions {
  /**
   * The number of members. 0 means a standalone server.
   *
   * @default {0}
   */
  replicaSet?: number;
  /**
   * Arguments of each `mongod`.
   *
   * @default {[]}
   */
  args?: readonly string[];
  /**
   * Whether its files are in memory, where there is enough of it.
   *
   * @default {false}
   */
  isInMemory?: boolean;
  /** The password of a user `root`, who is needed to do anything. For a standalone server only. */
  password?: string;
}

export interface RunningMongo extends AsyncDisposable {
  readonly uri: string;
  /** Missing if it was not started here. */
  readonly mongod?: FoundMongod;
  readonly members: readonly MongoMemoryServer[];
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Transactions and realistic sizes need it. */
const STORAGE_ENGINE = "wiredTiger";

const ARGS = [
  // Nobody reads the diagnostic data of each second.
  ...["--setParameter", "diagnosticDataCollectionEnabled=false"],
  // A killed mongod leaves its socket in the folder of temporary files. Windows does not know the argument.
  ...Deno.build.os === "windows" ? [] : ["--nounixsocket"],
];

/** In another process group, so that Ctrl-C reaches it after its clients. */
const SPAWN = { detached: true };

/**
 * On a free port of the loopback interface, in a folder that is removed again. If this process is killed, a watcher
 * ends the `mongod` within two seconds.
 *
 * @returns The MongoDB in `MONGODB_URI` if that is set and neither a replica set nor arguments are asked for.
 */
export async function startMongo(
  options: StartMongoOptions = {},
): Promise<RunningMongo> {
  const { replicaSet = 0, args = [], isInMemory = false, password } = options;
  const isOwn = replicaSet > 0 || args.length > 0 || password !== undefined;
  const mongod = isOwn ? await findMongod() : await findMongo();
  if ("uri" in mongod) return running({ uri: mongod.uri, stop: () => Promise.resolve() });
  // mongodb-memory-server prefers these two to its options.
  Deno.env.set("MONGOMS_SYSTEM_BINARY", mongod.path);
  Deno.env.set("MONGOMS_SYSTEM_BINARY_VERSION_CHECK", "false");
  const folder = isInMemory ? await memoryFolder() : undefined;
  const server = await start(mongod, {
    members: replicaSet,
    args: [...ARGS, ...args],
    ...password !== undefined && { password },
    ...folder !== undefined && { dbPath: folder },
  });
  return running({
    uri: server.getUri(),
    mongod,
    members: "servers" in server ? server.servers : [server],
    async stop() {
      await endProcesses(server);
      await server.stop({ doCleanup: true, force: true });
    },
  });
}

/** On a busy machine, a killed member reads its journal for longer than the usual 10 s. */
const LAUNCH_MS = 60_000;

/** What a MongoDB is started with. */
interface Start {
  readonly members: number;
  readonly args: string[];
  /** The folder of a standalone server, or of the only member. */
  readonly dbPath?: string;
  readonly password?: string;
}

async function start(
  { path, version }: FoundMongod,
  { members, args, password, ...where }: Start,
): Promise<MongoMemoryServer | MongoMemoryReplSet> {
  const binary = { systemBinary: path, version };
  return members === 0
    ? await MongoMemoryServer.create({
      binary,
      spawn: SPAWN,
      ...password !== undefined &&
        { auth: { enable: true, customRootName: "root", customRootPwd: password } },
      instance: {
        port: freePort(),
        storageEngine: STORAGE_ENGINE,
        args,
        launchTimeout: LAUNCH_MS,
        ...where,
      },
    })
    : await MongoMemoryReplSet.create({
      binary,
      // A restarted member needs its port again, which no connection may have taken meanwhile.
      instanceOpts: Array.from({ length: members }, () => ({
        port: freePort(),
        launchTimeout: LAUNCH_MS,
        ...where,
      })),
      replSet: {
        count: members,
        storageEngine: STORAGE_ENGINE,
        args,
        spawn: SPAWN,
      },
    });
}

function running(
  started: Omit<RunningMongo, "members" | typeof Symbol.asyncDispose> & Partial<RunningMongo>,
): RunningMongo {
  return { members: [], ...started, [Symbol.asyncDispose]: started.stop };
}
