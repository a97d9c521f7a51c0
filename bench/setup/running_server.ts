import type { Server } from "../plan/servers.ts";
import type { Ready } from "../servers/support/listen.ts";
import { Child } from "./child.ts";
import type { Workspace } from "./workspace.ts";

/** Options of {@linkcode startServer}. */
export interface StartServerOptions {
  /** The database to serve. */
  readonly uri: string;
  /** How many models Mongrove registers, in place of those that are measured; 0 for those. */
  readonly models?: number;
}

/** A server that listens. */
export interface RunningServer {
  /** Which one it is. */
  readonly server: Server;
  /** What it told when it began to listen. */
  readonly ready: Ready;
  /** From its start until it told so. */
  readonly startMs: number;
  /** Ends it. */
  readonly stop: () => Promise<void>;
}

/** What a server on Deno may do; Mongoose asks the system for its name and its memory. */
const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys", "--allow-read"];

/**
 * Starts a server in a process of its own.
 *
 * @param server Which one.
 * @param workspace Where its bundle and its packages are.
 * @param options See {@linkcode StartServerOptions}.
 * @returns The server, when it listens.
 * @throws {Error} If it does not.
 */
export async function startServer(
  server: Server,
  workspace: Workspace,
  options: StartServerOptions,
): Promise<RunningServer> {
  const { uri, models = 0 } = options;
  const { script, folder } = workspace.bundleOf(server.kind);
  const start = performance.now();
  const child = new Child({
    program: workspace.programs[server.runtime],
    args: server.runtime === "deno" ? ["run", "-q", "--no-lock", ...PERMISSIONS, script] : [script],
    folder,
    env: { MONGODB_URI: uri, BENCH_MODELS: String(models) },
  });
  try {
    const ready = await readReady(child);
    return { server, ready, startMs: performance.now() - start, stop: () => child.stop() };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/** Some servers say other things first. */
async function readReady(child: Child): Promise<Ready> {
  for (;;) {
    const line = await child.receive();
    if (line.startsWith("{")) return JSON.parse(line);
  }
}
