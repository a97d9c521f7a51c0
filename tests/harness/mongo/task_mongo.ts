import { lendServers } from "./lend_servers.ts";
import { startMongo } from "./start_mongo.ts";
import { say } from "../say.ts";

export interface TaskMongo extends AsyncDisposable {
  readonly env: Record<string, string>;
  readonly mongod: string | undefined;
}

/** The variables have `MONGODB_URI`, and with a binary everything to start replica sets. Servers are lent as well. */
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
