/** The load: requests over connections that stay open, and what they cost the server. @module */
import { quantile } from "./figures.ts";
import { cpuTime, memoryOf } from "./programs.ts";
import type { Traffic } from "./scenarios.ts";

/** A phase ends after this CPU time of the server, after ten times as much time, or after this number of requests. */
export interface Phase {
  readonly cpuMs: number;
  readonly most?: number | undefined;
  /** Other paths than those of the traffic. */
  readonly paths?: readonly string[];
}

type Answer = Readonly<Record<"status" | "bytes" | "firstByteMs" | "ms", number>>;

/** The end of a chunked body. JSON text has no line ends of this form. */
const LAST_CHUNK = "0\r\n\r\n";
const HEAD_END = "\r\n\r\n";

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

/** Opens a connection, which does little work for each request. */
export async function connect(port: number) {
  const socket = await Deno.connect({ hostname: "127.0.0.1", port });
  socket.setNoDelay(true);
  const buffer = new Uint8Array(262_144);
  const receive = async (kept: number) => {
    const size = await socket.read(buffer.subarray(kept));
    if (size === null) throw new Error("the server closed a connection");
    return kept + size;
  };
  return {
    /** Sends the pieces of a request, and counts the bytes of the answer's body. */
    async send(...pieces: readonly Uint8Array[]): Promise<Answer> {
      const start = performance.now();
      for (const piece of pieces) {
        for (let at = 0; at < piece.length;) at += await socket.write(piece.subarray(at));
      }
      let [size, text, end] = [0, "", -1];
      while (end < 0) {
        size = await receive(size);
        text = decoder.decode(buffer.subarray(0, size));
        end = text.indexOf(HEAD_END);
      }
      const head = text.slice(0, end);
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
      let bytes = size - end - HEAD_END.length;
      let tail = text.slice(end + HEAD_END.length).slice(-LAST_CHUNK.length);
      let firstByte = bytes && performance.now();
      while (isChunked ? tail !== LAST_CHUNK : bytes < length) {
        size = await receive(0);
        firstByte ||= performance.now();
        bytes += size;
        const last = decoder.decode(buffer.subarray(Math.max(0, size - LAST_CHUNK.length), size));
        tail = (tail + last).slice(-LAST_CHUNK.length);
      }
      const ms = performance.now() - start;
      const firstByteMs = firstByte ? firstByte - start : ms;
      return { status: Number(head.slice(9, 12)), bytes, firstByteMs, ms };
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

/** Returns a request. The fields of its head end with a line end each; its body has ASCII text only. */
export function encode(line: string, fields: string, body?: string): Uint8Array {
  const length = body === undefined ? "" : `content-length: ${body.length}\r\n`;
  const head = `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields}${length}\r\n`;
  return encoder.encode(head + (body ?? ""));
}

/**
 * Sends requests over connections that stay open for all phases. Returns the costs of a request in the phases after the first,
 * but the time of the first byte, the time of 99 % of the answers and the peak memory of the second phase. Throws if a
 * connection breaks, or a request is refused.
 */
export async function fire(
  { port, ...processes }: Processes & { readonly port: number },
  { method, bodies, connections, ...traffic }: Traffic,
  phases: readonly Phase[],
) {
  const fields = Object.entries({
    accept: "application/json",
    connection: "keep-alive",
    ...bodies.length > 0 && { "content-type": "application/json" },
    ...traffic.headers,
  }).map((entry) => `${entry.join(": ")}\r\n`).join("");
  let next = 0;
  const encodeNext = (paths: readonly string[]) => {
    const index = next++;
    const line = `${method} ${paths[index % paths.length]}`;
    return encode(line, fields, bodies[index % bodies.length]);
  };
  using stack = new DisposableStack();
  const open = await Promise.all(Array.from({ length: connections }, () => connect(port)));
  for (const connection of open) stack.use(connection);
  const fired: Awaited<ReturnType<typeof firePhase>>[] = [];
  for (const phase of phases) {
    const { paths = traffic.paths } = phase;
    const send = open.map((connection) => () => connection.send(encodeNext(paths)));
    fired.push(await firePhase(processes, phase, send));
  }
  const [, ...counted] = fired;
  const answers = counted.flatMap(({ answers }) => answers);
  const each = (key: "cpuMs" | "databaseMs" | "ms") =>
    counted.reduce((sum, phase) => sum + phase[key], 0) / answers.length;
  const first = counted[0]?.answers ?? [];
  return {
    cpuMs: each("cpuMs"),
    databaseMs: each("databaseMs"),
    perSecond: 1_000 / each("ms"),
    firstByteMs: quantile(first.map(({ firstByteMs }) => firstByteMs), 0.5),
    p99Ms: quantile(first.map(({ ms }) => ms), 0.99),
    peakMb: counted[0]?.peakMb ?? NaN,
    bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0) / answers.length,
  };
}

/** The processes of the server and of the database, which is 0 if it is not on this machine. */
type Processes = Readonly<Record<"pid" | "databasePid", number>>;

/** Sends requests until the phase ends. Each connection sends at least one. */
async function firePhase(
  { pid, databasePid }: Processes,
  { cpuMs, most = Number.MAX_SAFE_INTEGER }: Phase,
  send: readonly (() => Promise<Answer>)[],
) {
  const answers: Answer[] = [];
  const [cpu, databaseCpu] = [cpuTime(pid), cpuTime(databasePid)];
  const start = performance.now();
  let looked = start;
  let isOver = false;
  let left = most;
  await Promise.all(send.map(async (sendNext) => {
    while (left-- > 0 && !isOver) {
      answers.push(await sendNext());
      const now = performance.now();
      if (now - looked < 20 && cpuMs > 0) continue;
      looked = now;
      isOver ||= now - start >= cpuMs * 10 || cpuTime(pid) - cpu >= cpuMs;
    }
  }));
  const refused = answers.filter(({ status }) => status < 200 || status > 299).length;
  if (refused > 0) throw new Error(`${refused} of ${answers.length} requests were refused`);
  return {
    answers,
    ms: performance.now() - start,
    cpuMs: cpuTime(pid) - cpu,
    databaseMs: cpuTime(databasePid) - databaseCpu,
    peakMb: memoryOf(pid, "VmHWM"),
  };
}
