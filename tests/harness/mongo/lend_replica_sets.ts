import { reasonOf, say } from "../say.ts";
import { type RunningMongo, startMongo } from "./start_mongo.ts";

/** The port at which a task lends replica sets. */
export const REPLICA_SETS = "MONGROVE_REPLICA_SETS";

const COMMANDS_MAY_FAIL = ["--setParameter", "enableTestCommands=1"];

export type LentReplicaSet = Pick<RunningMongo, "uri" | "stop">;

export interface ReplicaSetLender extends AsyncDisposable {
  readonly env: Record<string, string>;
}

/** Lends each replica set to one connection at a time, whose end gives it back. */
export function lendReplicaSets(start = startReplicaSet): ReplicaSetLender {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const all: Promise<LentReplicaSet>[] = [];
  const free: LentReplicaSet[] = [];
  const add = () => {
    const started = start();
    all.push(started);
    started.catch((error) => say(`Cannot start a replica set: ${reasonOf(error)}`));
    return started;
  };
  const lend = async (connection: Deno.Conn) => {
    using _connection = connection;
    const set = free.pop() ?? await add();
    try {
      await connection.write(new TextEncoder().encode(set.uri));
      await connection.read(new Uint8Array(1));
    } catch { /* A killed process gives its replica set back as well. */ }
    free.push(set);
  };
  const serve = async () => {
    for await (const connection of listener) lend(connection).catch(() => {});
  };
  serve().catch(() => {});
  return {
    env: { [REPLICA_SETS]: String((listener.addr as Deno.NetAddr).port) },
    async [Symbol.asyncDispose]() {
      listener.close();
      const started = await Promise.allSettled(all);
      await Promise.all(started.map((each) => each.status === "fulfilled" && each.value.stop()));
    },
  };
}

async function startReplicaSet(): Promise<LentReplicaSet> {
  return await startMongo({ replicaSet: 1, args: COMMANDS_MAY_FAIL });
}

/** Starts one where no task lends any. */
export async function borrowReplicaSet(
  port: string | undefined = Deno.env.get(REPLICA_SETS),
): Promise<LentReplicaSet> {
  if (port === undefined) return await startReplicaSet();
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const bytes = new Uint8Array(1_024);
  const count = await connection.read(bytes);
  if (count === null) throw new Error("The task could not start a replica set");
  const uri = new TextDecoder().decode(bytes.subarray(0, count));
  return { uri, stop: () => Promise.resolve(connection.close()) };
}
