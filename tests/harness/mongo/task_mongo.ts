import { lendServers } from "./lend_servers.ts";
import { startMongo } from "./start_mongo.ts";
import { say } from "../say.ts";

/** A MongoDB for one task, as its process sees it. */
export interface TaskMongo extends AsyncDisposable {
  /** The environment variables that lead to it. */
  readonly env: Record<string, string>;
  /** The binary, if there is one. */
  readonly mongod: string | undefined;
}

/**
 * Finds and starts the MongoDB of a task.
 *
 * @returns The variables for the processes of the task: `MONGODB_URI`, and where
 * a binary is known, what lets them start replica sets of their own; besides, servers are lent to them.
 */
export async function openTaskMongo(): Promise<TaskMongo> {
  const mongo = await startMongo({ isInMemory: true });
  const { mongod } = mongo;
  const lenders = [lendServers("replicaSet"), lendServers("standalone")];
  say(
    mongod ? `MongoDB ${mongod.version} (${mongod.source})` : "The MongoDB in MONGODB_URI",
  );
  return {
    env: {
      MONGODB_URI: mongo.uri,
      ...Object.assign({}, ...lenders.map(({ env }) => env)),
      ...(mongod && {
        MONGROVE_MONGOD: mongod.path,
        MONGOMS_SYSTEM_BINARY: mongod.path,
        MONGOMS_SYSTEM_BINARY_VERSION_CHECK: "false",
      }),
    },
    mongod: mongod?.path,
    async [Symbol.asyncDispose]() {
      await Promise.all([mongo.stop(), ...lenders.map((each) => each[Symbol.asyncDispose]())]);
    },
  };
}
