import type { Told } from "./work_main.ts";

/** A process of work, and what it has printed. */
export interface Worker extends AsyncDisposable {
  readonly pid: number;
  readonly told: Told[];
  /** The identifiers that its change got. */
  seen(): string[];
  has(step: Told["step"]): boolean;
  signal(name: Deno.Signal): void;
}

export interface WorkerOptions {
  readonly mode: "migrate" | "repeat";
  readonly leaseMS: number;
}

/** Starts a process; disposing kills it. */
export function startWorker(uri: string, { mode, leaseMS }: WorkerOptions): Worker {
  const main = new URL("./work_main.ts", import.meta.url).pathname;
  const args = ["run", "--quiet", "--no-check", "-A", main, uri, mode, String(leaseMS)];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const told: Told[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) told.push(JSON.parse(line));
    }
  })();
  const signal = (name: Deno.Signal) => {
    try {
      child.kill(name);
    } catch {
      // It has ended
    }
  };
  return {
    pid: child.pid,
    told,
    signal,
    seen: () => told.flatMap((each) => each.step === "seen" ? each.id : []),
    has: (step) => told.some((each) => each.step === step),
    async [Symbol.asyncDispose]() {
      signal("SIGKILL");
      await child.status;
      await reading;
    },
  };
}
