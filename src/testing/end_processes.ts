import type { ChildProcess } from "node:child_process";
import type { MemoryServer } from "./memory_server.ts";

/**
 * Ends the processes of a server. With Deno's permission `--allow-run=mongod`, mongodb-memory-server would leave them
 * running, because it may not check whether they run, and treats the refusal as their end.
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
