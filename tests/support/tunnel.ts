import { freePort } from "../harness/free_port.ts";
import { until } from "./until.ts";

/** A way to a database that can be blocked like a network, or cut as by a dead server. */
export interface Tunnel extends Disposable {
  /** Without the name of a database. */
  readonly uri: string;
  /** Lets nothing through, and closes nothing. */
  block(): void;
  /** Holds data back like a server that hangs. The result releases it. */
  hold(): () => void;
  delay(milliseconds: number): void;
  /** Reads nothing, so that a sender has to wait. Resolves when something has been sent. */
  stall(): Promise<void>;
}

/** @param port Between a close and a new start, connections could take a port that systems give. */
export function openTunnel(to: string, port: number = freePort()): Tunnel {
  const { hostname, port: target } = new URL(to);
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const pipes = new Pipes();
  const accept = async () => {
    for await (const inner of listener) {
      pipes.connect(inner, await Deno.connect({ hostname, port: Number(target) }));
    }
  };
  accept().catch(() => {});
  return {
    uri: `mongodb://127.0.0.1:${listener.addr.port}/?directConnection=true`,
    block: () => pipes.block(),
    hold: () => pipes.hold(),
    delay: (milliseconds) => pipes.delay(milliseconds),
    stall: () => pipes.stall(),
    [Symbol.dispose]() {
      listener.close();
      pipes.close();
    },
  };
}

/** The port of a closed tunnel may still be taken for a while. */
export async function reopenTunnel(to: string, { uri }: Tunnel): Promise<Tunnel> {
  const opened: Tunnel[] = [];
  await until(() => {
    try {
      return opened.push(openTunnel(to, Number(new URL(uri).port))) > 0;
    } catch {
      return false;
    }
  });
  return opened[0] as Tunnel;
}

class Pipes {
  readonly #sockets = new Set<Deno.Conn>();
  readonly #sent = Promise.withResolvers<void>();
  #held: Promise<void> | undefined;
  #delayMS = 0;
  #blocked = false;
  #stalled = false;

  connect(inner: Deno.Conn, outer: Deno.Conn): void {
    this.#sockets.add(inner).add(outer);
    this.#pipe(inner, outer).catch(() => {});
    this.#pipe(outer, inner).catch(() => {});
  }

  block(): void {
    this.#blocked = true;
  }

  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  delay(milliseconds: number): void {
    this.#delayMS = milliseconds;
  }

  stall(): Promise<void> {
    this.#stalled = true;
    return this.#sent.promise;
  }

  close(): void {
    for (const socket of this.#sockets) {
      try {
        socket.close();
      } catch { /* The other end was faster. */ }
    }
  }

  async #pipe(from: Deno.Conn, to: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      if (this.#stalled) return this.#sent.resolve();
      if (this.#blocked) continue;
      await this.#held;
      if (this.#delayMS > 0) await new Promise((resolve) => setTimeout(resolve, this.#delayMS));
      const sent = new Blob([buffer.slice(0, count)]).stream();
      await sent.pipeTo(to.writable, { preventClose: true });
    }
  }
}
