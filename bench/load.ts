/**
 * The load generator: a process that reads a command as JSON. It runs on Node, as Deno reads `/proc` only with all
 * permissions. @module
 */
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { text } from "node:stream/consumers";
import { quantile } from "./figures.ts";

/** Requests to a server over connections that stay open for all phases. Paths and bodies are taken in turn. */
export interface Command {
  readonly port: number;
  readonly pid: number;
  /** The process of the database; 0 if it is not on this machine. */
  readonly databasePid: number;
  readonly connections: number;
  readonly method: string;
  readonly paths: readonly string[];
  readonly bodies: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly phases: readonly Phase[];
}

/** A phase ends after this CPU time of the server, after ten times as much time, or after this number of requests. */
export interface Phase {
  readonly cpuMs: number;
  readonly most?: number | undefined;
  /** Other paths than those of the command. */
  readonly paths?: readonly string[];
}

/** The sums, medians and CPU times of a phase. The peak memory is that of the server since its start. */
export type Fired = Readonly<
  & Record<"requests" | "failed" | "bytes" | "ms" | "cpuMs" | "databaseMs", number>
  & Record<"firstByteMs" | "p99Ms" | "peakMb", number>
>;

/** The phases, and the CPU time and the peak memory of the server before the first request. */
export interface Report {
  readonly before: Pick<Fired, "cpuMs" | "peakMb">;
  readonly phases: readonly Fired[];
}

type Answer = Readonly<Record<"status" | "bytes" | "firstByteMs" | "ms", number>>;

/** Reads the CPU time of a process in milliseconds, from ticks of 10 ms. */
function cpuTime(pid: number): number {
  if (pid === 0) return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name may hold spaces; it ends with the last parenthesis
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/** The end of a chunked body. JSON text has no line ends of this form. */
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** Opens a connection. Returns a function that sends a request over it, with little work for each request. */
async function open(port: number): Promise<(request: Uint8Array) => Promise<Answer>> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const chunks: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]();
  const receive = async () => {
    const { value, done } = await chunks.next();
    if (done) throw new Error("the server closed a connection");
    return value;
  };
  return async (request) => {
    const start = performance.now();
    socket.write(request);
    let head = await receive();
    while (!head.includes(HEAD_END)) head = Buffer.concat([head, await receive()]);
    const end = head.indexOf(HEAD_END);
    const fields = head.toString("latin1", 0, end);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(fields)?.[1] ?? 0);
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(fields);
    let chunk = head.subarray(end + HEAD_END.length);
    let [bytes, firstByte, tail] = [chunk.length, chunk.length && performance.now(), chunk];
    while (isChunked ? !tail.subarray(-5).equals(LAST_CHUNK) : bytes < length) {
      chunk = await receive();
      firstByte ||= performance.now();
      bytes += chunk.length;
      tail = chunk.length < 5 ? Buffer.concat([tail.subarray(-5), chunk]) : chunk;
    }
    const ms = performance.now() - start;
    const firstByteMs = firstByte ? firstByte - start : ms;
    return { status: Number(fields.slice(9, 12)), bytes, firstByteMs, ms };
  };
}

/** Returns a function that returns the next request, with paths and bodies in turn. */
function encoder({ method, bodies, headers }: Command): (paths: readonly string[]) => Uint8Array {
  const lines = Object.entries({
    host: "127.0.0.1",
    accept: "application/json",
    connection: "keep-alive",
    ...bodies.length > 0 && { "content-type": "application/json" },
    ...headers,
  }).map((entry) => `${entry.join(": ")}\r\n`).join("");
  let next = 0;
  return (paths) => {
    const index = next++;
    const head = `${method} ${paths[index % paths.length]} HTTP/1.1\r\n${lines}`;
    if (bodies.length === 0) return Buffer.from(`${head}\r\n`);
    const body = bodies[index % bodies.length] as string;
    return Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
}

/** Sends requests until the phase ends. Each connection sends at least one. */
async function fire(
  { pid, databasePid, paths: usual }: Command,
  { cpuMs, most = Number.MAX_SAFE_INTEGER, paths = usual }: Phase,
  send: readonly ((paths: readonly string[]) => Promise<Answer>)[],
): Promise<Fired> {
  const answers: Answer[] = [];
  const [cpu, databaseCpu] = [cpuTime(pid), cpuTime(databasePid)];
  const start = performance.now();
  let looked = start;
  let isOver = false;
  let left = most;
  await Promise.all(send.map(async (request) => {
    while (left-- > 0) {
      answers.push(await request(paths));
      const now = performance.now();
      if (now - looked >= 20 || cpuMs === 0) {
        looked = now;
        isOver ||= now - start >= cpuMs * 10 || cpuTime(pid) - cpu >= cpuMs;
      }
      if (isOver) break;
    }
  }));
  return {
    requests: answers.length,
    failed: answers.filter(({ status }) => status < 200 || status > 299).length,
    bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
    ms: performance.now() - start,
    cpuMs: cpuTime(pid) - cpu,
    databaseMs: cpuTime(databasePid) - databaseCpu,
    firstByteMs: quantile(answers.map(({ firstByteMs }) => firstByteMs), 0.5),
    p99Ms: quantile(answers.map(({ ms }) => ms), 0.99),
    peakMb: peakMemory(pid),
  };
}

const command: Command = JSON.parse(await text(process.stdin));
const before = { cpuMs: cpuTime(command.pid), peakMb: peakMemory(command.pid) };
const connections = await Promise.all(
  Array.from({ length: command.connections }, () => open(command.port)),
);
const encodeNext = encoder(command);
const send = connections.map((request) => (paths: readonly string[]) => request(encodeNext(paths)));
const phases: Fired[] = [];
for (const phase of command.phases) phases.push(await fire(command, phase, send));
process.stdout.write(JSON.stringify({ before, phases } satisfies Report), () => process.exit());
