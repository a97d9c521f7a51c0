import { reasonOf, say } from "../say.ts";
import { type RunningMongo, startMongo } from "./start_mongo.ts";

/** A replica set has one member. */
export type LentKind = "replicaSet" | "standalone";

/** The ports at which a task lends servers. */
export const PORTS: Readonly<Record<LentKind, string>> = {
  replicaSet: "MONGROVE_REPLICA_SETS",
  standalone: "MONGROVE_STANDALONES",
};

const COMMANDS_MAY_FAIL = ["--setParameter", "enableTestCommands=1"];

/** Its commands can be made to fail. */
export type LentServer = Pick<RunningMongo, "uri" | "stop">;

export interface ServerLender extends AsyncDisposable {
  readonly env: Record<string, string>;
}

/** Lends each server to one connection at a time, whose end gives it back. */
export function lendServers(
  kind: LentKind,
  start = () => startServer(kind, { isInMemory: true }),
): ServerLender {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const all: Promise<LentServer>[] = [];
  const free: LentServer[] = [];
  const add = () => {
    const started = start();
    all.push(started);
    started.catch((error) => say(`Cannot start a ${kind}: ${reasonOf(error)}`));
    return started;
  };
  const lend = async (connection: Deno.Conn) => {
    using _connection = connection;
    const server = free.pop() ?? await add();
    try {
      await connection.write(new TextEncoder().encode(server.uri));
      await connection.read(new Uint8Array(1));
    } catch { /* A killed process gives its server back as well. */ }
    free.push(server);
  };
  const serve = async () => {
    for await (const connection of listener) lend(connection).catch(() => {});
  };
  serve().catch(() => {});
  return {
    env: { [PORTS[kind]]: String((listener.addr as Deno.NetAddr).port) },
    async [Symbol.asyncDispose]() {
      listener.close();
      const started = await Promise.allSettled(all);
      await Promise.all(started.map((each) => each.status === "fulfilled" && each.value.stop()));
    },
  };
}

async function startServer(kind: LentKind, { isInMemory = false } = {}): Promise<LentServer> {
  const replicaSet = kind === "replicaSet" ? 1 : 0;
  return await startMongo({ replicaSet, args: COMMANDS_MAY_FAIL, isInMemory });
}

/** Starts one where no task lends any. */
export async function borrowServer(
  kind: LentKind,
  port: string | undefined = Deno.env.get(PORTS[kind]),
): Promise<LentServer> {
  if (port === undefined) return await startServer(kind);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const bytes = new Uint8Array(1_024);
  const count = await connection.read(bytes);
  if (count === null) throw new Error(`The task could not start a ${kind}`);
  const uri = new TextDecoder().decode(bytes.subarray(0, count));
  return { uri, stop: () => Promise.resolve(connection.close()) };
}
