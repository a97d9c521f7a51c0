import type { ChildProcess } from "node:child_process";
import type { MemoryServer } from "./memory_server.ts";

/**
 * Kills the processes of a MongoDB. With Deno's `--allow-run=mongod`, mongodb-memory-server would leave the processes
 * running. The package lacks the permission to check whether a process runs, and treats that error as an ended process.
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
