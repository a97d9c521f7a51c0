/** Options of {@linkcode runDeno}. */
export interface RunDenoOptions {
  /**
   * Environment variables in addition to ours.
   *
   * @default {{}}
   */
  env?: Record<string, string>;
  /**
   * Whether to keep the output instead of showing it as it comes.
   *
   * @default {false}
   */
  capture?: boolean;
  /**
   * The folder to run it in.
   *
   * @default {ROOT}
   */
  cwd?: string | URL;
  /** Reads the standard output in the place of both, to its end. Returns what is to be kept or shown of it. */
  follow?: (output: ReadableStream<Uint8Array<ArrayBuffer>>) => Promise<string>;
}

/** What became of a {@linkcode runDeno}. */
export interface DenoResult {
  /** The exit code. */
  readonly code: number;
  /** The output that was captured. */
  readonly output: string;
}

/** The repository. */
export const ROOT: URL = new URL("../../../", import.meta.url);

const children = new Set<Deno.ChildProcess>();
let interruptedAt: number | undefined;

/** Ctrl-C comes twice: from the terminal, and from the task runner above us. */
const ECHO_MS = 1_000;

/**
 * Hands signals on to the Deno that is running, so that its end, and not the
 * signal, ends this process, and everything that was started is stopped. A
 * second signal ends it at once. The end of our parent counts as a signal.
 */
export function forwardSignals(): void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => handOn(signal));
  }
  // A task runner that is killed itself hands nothing on
  const parent = Deno.ppid;
  Deno.unrefTimer(setInterval(() => {
    if (Deno.ppid !== parent) handOn("SIGTERM");
  }, ECHO_MS));
}

/** Whether a signal has ended what runs. */
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
      // It has ended by itself
    }
  }
}

/**
 * Runs this very Deno.
 *
 * @param args Its arguments.
 * @param options See {@linkcode RunDenoOptions}.
 * @returns Its exit code, and its output if that is captured.
 */
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

/** The paths in the repository that are there, of those that are named. */
export async function existing(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(
    paths.map((path) => Deno.stat(new URL(path, ROOT)).then(() => true, () => false)),
  );
  return paths.filter((_, i) => there[i]);
}
