/** What to run, and how. */
export interface ChildOptions {
  /** The program. */
  readonly program: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Where it runs. */
  readonly folder: string;
  /** Environment variables in addition to ours. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How much of what a child says of its errors is kept. */
const KEPT = 4_000;

/** A program that is spoken to by lines. It ends with its standard input, so never outlives us. */
export class Child {
  readonly #child: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #ended: Promise<unknown>;
  #errors = "";

  constructor({ program, args, folder, env = {} }: ChildOptions) {
    this.#child = new Deno.Command(program, {
      args: [...args],
      cwd: folder,
      env: { ...env, NODE_ENV: "production", NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#lines = this.#child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(splitLines()).getReader();
    this.#input = this.#child.stdin.getWriter();
    this.#ended = Promise.all([this.#child.status, this.#keepErrors()]);
  }

  /** Sends a line. */
  async send(line: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${line}\n`));
  }

  /**
   * Waits for the next line.
   *
   * @throws {Error} If the child ends before, with the first of its errors.
   */
  async receive(): Promise<string> {
    const { value } = await this.#lines.read();
    if (value !== undefined) return value;
    await this.#ended;
    throw new Error(this.#reason());
  }

  /** Ends it, and waits for that. */
  async stop(): Promise<void> {
    await this.#input.close().catch(() => {});
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 3_000);
    await this.#ended;
    clearTimeout(timer);
    await this.#lines.cancel();
  }

  async #keepErrors(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#errors = (this.#errors + text).slice(0, KEPT);
    }
  }

  /** The message of the error, without what follows it: stacks are full of paths. */
  #reason(): string {
    const line = /^.*\b\w*Error\b.*$/m.exec(this.#errors)?.[0] ?? "it ended";
    return line.replaceAll(/(?:file:\/\/)?(?:\/[\w.@+~-]+){2,}/g, "…");
  }
}

function splitLines(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(text, controller): void {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) controller.enqueue(line);
    },
  });
}
