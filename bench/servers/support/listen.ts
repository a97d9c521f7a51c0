import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import type { Feature } from "../../plan/scenarios.ts";

/** What a server tells when it listens, as one line of JSON. */
export interface Ready {
  /** Where it listens on the loopback interface. */
  readonly port: number;
  /** Its process. */
  readonly pid: number;
  /** What it offers. */
  readonly features: readonly Feature[];
}

/**
 * Listens on a free port, tells so on stdout, and ends with the bench, whatever becomes of that.
 *
 * @param handler Answers the requests.
 * @param features What it offers beyond the operations.
 */
export function listen(handler: RequestListener, features: readonly Feature[] = []): void {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    const ready: Ready = { port, pid: process.pid, features };
    process.stdout.write(`${JSON.stringify(ready)}\n`);
  });
  process.stdin.on("end", () => process.exit()).resume();
}
