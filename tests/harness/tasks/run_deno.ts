export interface RunDenoOptions {
  env?: Record<string, string>;
  /**
   * Keeps the output instead of showing it.
   *
   * @default {false}
   */
  capture?: boolean;
  /** @default {ROOT} */
  cwd?: string | URL;
  /** Reads the standard output to its end, and returns the part to keep or show. */
  follow?: (output: ReadableStream<Uint8Array<ArrayBuffer>>) => Promise<string>;
}

export interface DenoResult {
  readonly code: number;
  readonly output: string;
}

export const ROOT: URL = new URL("../../../", import.meta.url);

const children = new Set<Deno.ChildProcess>();
let interruptedAt: number | undefined;

/** Ctrl-C comes twice: from the terminal, and from the task runner above. */
const ECHO_MS = 1_000;

/**
 * Hands signals on to the running Deno, whose end then ends this process, so that everything started is stopped. A
 * second signal ends it at once, and the end of the parent counts as a signal.
 */
export function forwardSignals(): void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => handOn(signal));
  }
  // A killed task runner hands nothing on.
  const parent = Deno.ppid;
  Deno.unrefTimer(setInterval(() => {
    if (Deno.ppid !== parent) handOn("SIGTERM");
  }, ECHO_MS));
}

export function isInterrupted(): boolean {
  return interruptedAt !== undefined;
}

function handOn(signal: Deno.Signal): void {
  const now = performance.now();
  const isFirst = interruptedAt === undefined;
  interruptedAt ??= now;
  const isEcho = now - interruptedAt < ECHO_MS;
  if (isFirst ? children.size === 0 : !isEcho) Deno.exit(130);
  for (const child of children) {
    try {
      child.kill(signal);
    } catch {
      // It has ended already.
    }
  }
}

/** Runs this very Deno. */
export async function runDeno(
  args: string[],
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const { env = {}, capture = false, cwd = ROOT, follow } = options;
  const stdio = capture ? "piped" : "inherit";
  const child = new Deno.Command(Deno.execPath(), {
    args,
    env,
    cwd,
    stdin: capture ? "null" : "inherit",
    stdout: follow ? "piped" : stdio,
    stderr: stdio,
  }).spawn();
  children.add(child);
  try {
    const texts = await Promise.all([
      ...follow ? [follow(child.stdout)] : capture ? [new Response(child.stdout).text()] : [],
      ...capture ? [new Response(child.stderr).text()] : [],
    ]);
    const { code } = await child.status;
    return { code, output: texts.join("\n").trim() };
  } finally {
    children.delete(child);
  }
}

export async function existing(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(
    paths.map((path) => Deno.stat(new URL(path, ROOT)).then(() => true, () => false)),
  );
  return paths.filter((_, i) => there[i]);
}
