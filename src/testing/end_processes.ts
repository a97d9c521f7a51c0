import type { ChildProcess } from "node:child_process";
import type { MongoMemoryReplSet, MongoMemoryServer } from "mongodb-memory-server";

/**
 * Ends the processes of a MongoDB whose data nobody needs any more.
 *
 * mongodb-memory-server asks the system whether they are alive before it ends them. Under Deno's `--allow-run=mongod`
 * the question is refused, it takes that for a no, and they live on; a signal to a child of one's own is allowed.
 */
export async function endProcesses(server: MongoMemoryServer | MongoMemoryReplSet): Promise<void> {
  const servers = "servers" in server ? server.servers : [server];
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
