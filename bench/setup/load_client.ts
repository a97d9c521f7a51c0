import type { Command, Fired, OpenCommand, Probed } from "../load/commands.ts";
import { Child } from "./child.ts";

/** The load generator, as the bench speaks to it. */
export class LoadClient implements AsyncDisposable {
  readonly #child: Child;

  /**
   * Starts it.
   *
   * @param program The path of Node.
   * @param script Its bundle.
   */
  constructor(program: string, script: string) {
    this.#child = new Child({ program, args: [script], folder: "." });
  }

  /** Opens connections to a server. */
  async open(command: Omit<OpenCommand, "type">): Promise<void> {
    await this.#ask({ type: "open", ...command });
  }

  /** Sends requests until the server has used some CPU time, or a number of them. */
  async fire(cpuMs: number, requests: number = Number.MAX_SAFE_INTEGER): Promise<Fired> {
    const fired = await this.#ask<Fired>({ type: "fire", cpuMs, requests });
    if (fired.failed > 0) {
      throw new Error(`${fired.failed} of ${fired.requests} requests were refused`);
    }
    return fired;
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#ask({ type: "close" });
  }

  /** Reads what a process has used since its start. */
  async probe(pid: number): Promise<Probed> {
    return await this.#ask<Probed>({ type: "probe", pid });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stop();
  }

  async #ask<T>(command: Command): Promise<T> {
    await this.#child.send(JSON.stringify(command));
    const answer = JSON.parse(await this.#child.receive());
    if ("error" in answer) throw new Error(answer.error);
    return answer;
  }
}
