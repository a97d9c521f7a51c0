/** Subscribers of live lists, which count their events. @module */
import { until } from "../tests/support/until.ts";
import { encode } from "./load.ts";

export class Subscribers implements Disposable {
  /** The events that came after the lists. */
  events = 0;
  /** The milliseconds from a write to its event, if the entity's `state` is the time of its write. */
  latencies: number[] = [];
  /** The number of subscribers that measure the time of events. */
  timed = Infinity;
  readonly #sockets: Deno.TcpConn[] = [];
  #ready = 0;

  async open(port: number, path: string): Promise<void> {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    const isTimed = this.#sockets.push(socket) <= this.timed;
    await socket.write(encode(`GET ${path}`, "accept: text/event-stream\r\nx-tenant: t1\r\n"));
    void this.#read(socket, isTimed);
  }

  /** Waits until all subscribers have their lists. */
  async areReady(): Promise<void> {
    await until(() => this.#ready === this.#sockets.length, { seconds: 300 });
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.close();
  }

  async #read(socket: Deno.TcpConn, isTimed: boolean): Promise<void> {
    const decoder = new TextDecoder("latin1");
    const bytes = new Uint8Array(16_384);
    let isReady = false;
    let rest = "";
    for (;;) {
      const size = await socket.read(bytes).catch(() => null);
      if (size === null) return;
      const parts = (rest + decoder.decode(bytes.subarray(0, size))).split("event: ");
      // The last event may be cut off
      rest = /\n\n(\r\n)?$/.test(parts.at(-1) ?? "") ? "" : parts.pop() ?? "";
      for (const part of parts) {
        if (!isReady && part.startsWith("ready")) {
          isReady = true;
          this.#ready++;
        } else if (isReady && part.startsWith("put")) {
          this.events++;
          const [, at] = isTimed ? /"state":"(\d+)"/.exec(part) ?? [] : [];
          if (at !== undefined) this.latencies.push(Date.now() - Number(at));
        }
      }
    }
  }
}
