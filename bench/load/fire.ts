import { Buffer } from "node:buffer";
import { quantile } from "../figures/quantile.ts";
import type { FireCommand, Fired, OpenCommand } from "./commands.ts";
import { type Answer, Connection } from "./connection.ts";
import { readPeakMb, readThreadTimes, timeBetween } from "./process_usage.ts";

/** The open connections to one server. */
export class Battery {
  readonly #pid: number;
  readonly #databasePid: number;
  readonly #connections: readonly Connection[];
  readonly #heads: readonly string[];
  readonly #bodies: readonly string[];
  #next = 0;

  constructor(command: OpenCommand, connections: readonly Connection[]) {
    this.#pid = command.pid;
    this.#databasePid = command.databasePid;
    this.#connections = connections;
    this.#bodies = command.bodies;
    const headers = Object.entries(command.headers).map((entry) => `${entry.join(": ")}\r\n`);
    const rest = `HTTP/1.1\r\n${HEADERS}${headers.join("")}`;
    this.#heads = command.paths.map((path) => `${command.method} ${path} ${rest}`);
  }

  /** Opens the connections. */
  static async open(command: OpenCommand): Promise<Battery> {
    const opened = Array.from(
      { length: command.connections },
      () => Connection.open(command.port),
    );
    return new Battery(command, await Promise.all(opened));
  }

  /** Sends requests until the CPU time or their number is up, and sums up the answers. */
  async fire({ cpuMs, requests }: FireCommand): Promise<Fired> {
    const answers: Answer[] = [];
    let left = requests;
    const before = readThreadTimes(this.#pid);
    const databaseBefore = readThreadTimes(this.#databasePid);
    const used = () => timeBetween(before, readThreadTimes(this.#pid));
    const isOver = watch(cpuMs, used);
    const start = performance.now();
    await Promise.all(this.#connections.map(async (connection) => {
      while (left-- > 0) {
        answers.push(await connection.request(this.#encodeNext()));
        if (isOver()) break;
      }
    }));
    return {
      ...sumUp(answers),
      ms: performance.now() - start,
      cpuMs: used(),
      databaseMs: timeBetween(databaseBefore, readThreadTimes(this.#databasePid)),
      peakMb: readPeakMb(this.#pid),
    };
  }

  /** Closes the connections. */
  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #encodeNext(): Uint8Array {
    const index = this.#next++;
    const head = this.#heads[index % this.#heads.length] as string;
    if (this.#bodies.length === 0) return Buffer.from(`${head}\r\n`);
    const body = this.#bodies[index % this.#bodies.length] as string;
    const length = Buffer.byteLength(body);
    return Buffer.from(`${head}${JSON_HEADER}content-length: ${length}\r\n\r\n${body}`);
  }
}

const HEADERS = "host: 127.0.0.1\r\naccept: application/json\r\nconnection: keep-alive\r\n";
const JSON_HEADER = "content-type: application/json\r\n";

/** How often the CPU time is looked up. */
const LOOK_MS = 20;

/** Where the server gets little of the machine, time ends it. */
const PATIENCE = 10;

/** Tells, when asked, whether CPU time has been used up. */
function watch(cpuMs: number, used: () => number): () => boolean {
  const start = performance.now();
  let next = start;
  let isOver = false;
  return () => {
    const now = performance.now();
    if (isOver || now < next) return isOver;
    next = now + LOOK_MS;
    isOver = now - start >= cpuMs * PATIENCE || used() >= cpuMs;
    return isOver;
  };
}

function sumUp(
  answers: readonly Answer[],
): Pick<Fired, "requests" | "failed" | "bytes" | "firstByteMs" | "p99Ms"> {
  return {
    requests: answers.length,
    failed: answers.filter(({ status }) => status < 200 || status > 299).length,
    bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
    firstByteMs: quantile(answers.map(({ firstByteMs }) => firstByteMs), 0.5),
    p99Ms: quantile(answers.map(({ ms }) => ms), 0.99),
  };
}
