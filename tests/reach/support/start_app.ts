import { request } from "../../harness/request.ts";
import { freePort } from "../../harness/free_port.ts";

/** A process that serves an application. */
export interface StartedApp extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string;
  /** The process. */
  readonly child: Deno.ChildProcess;
}

/** How long an application may take to answer, compiling included. */
const PATIENCE_MS = 60_000;

/**
 * Starts a process that serves an application, on a free port that it is told by `PORT`.
 *
 * @param command The program and its arguments.
 * @param options Where to run it, and its environment.
 * @returns Where it listens; disposing ends it.
 * @throws {Error} If it ends, or does not answer in time; its output is in the message.
 */
export async function startApp(
  [name, ...args]: readonly [string, ...string[]],
  { cwd, env, address = "127.0.0.1" }: {
    cwd: string;
    env: Record<string, string>;
    /** The address of its host. */
    address?: string;
  },
): Promise<StartedApp> {
  const port = freePort();
  const child = new Deno.Command(name, {
    args,
    cwd,
    env: { NO_COLOR: "1", TODO_KEY: "demo", ...env, PORT: String(port) },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = Promise.all([child.stdout, child.stderr].map((each) => new Response(each).text()));
  const url = `http://${address}:${port}`;
  const ended = child.status.then(() => false);
  const end = async () => {
    kill(child, "SIGTERM");
    const timer = setTimeout(() => kill(child, "SIGKILL"), 3_000);
    await child.status;
    clearTimeout(timer);
  };
  if (await Promise.race([untilUp(url), ended])) return { url, child, [Symbol.asyncDispose]: end };
  await end();
  throw new Error(`Cannot reach "${name} ${args.join(" ")}": ${(await output).join("\n")}`);
}

async function untilUp(url: string): Promise<boolean> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    // A worker of Deno's node:cluster may never read its first connection: another one is tried
    if (await request(url, { within: 5_000 }).then(() => true, () => false)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended by itself
  }
}
