import { openGet, sendGet } from "../../sockets.ts";
import { isLong } from "../../harness/report.ts";

/** The connections of clients that harm an application. */
export interface Held {
  /** Whether the application ends the harm itself: it cuts those that take too little of a list. */
  readonly isCut: boolean;
  close(): Promise<void> | void;
}

/** What clients do to an application at a URL. */
export type Harm = (url: string) => Promise<Held>;

/** The short form has a tenth of the clients. */
const many = (count: number): number => isLong ? count : count / 10;

const HEAD =
  "POST /visits HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 30\r\n";

/** The phases of a request, as what was sent of it; the last one is whole. */
const PHASES = [
  "",
  "GET /vis",
  `${HEAD}\r\n`,
  `${HEAD}\r\n{"text":`,
  "GET /visits HTTP/1.1\r\nHost: a\r\n\r\n",
];

async function begin(url: string, text: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(text));
  return socket;
}

/** Opens connections, some at a time: more would not wait in the queue of the listener. */
async function open(count: number, make: (index: number) => Promise<Deno.TcpConn>) {
  const sockets: Deno.TcpConn[] = [];
  while (sockets.length < count) {
    const next = Math.min(50, count - sockets.length);
    sockets.push(
      ...await Promise.all(Array.from({ length: next }, (_, at) => make(sockets.length + at))),
    );
  }
  return sockets;
}

const heldBy = (sockets: readonly Deno.TcpConn[], isCut = false): Held => ({
  isCut,
  close: () => sockets.forEach((socket) => socket.close()),
});

/** Reads 1 KB every second, until the connection ends. */
async function readSlowly(socket: Deno.TcpConn): Promise<void> {
  const bytes = new Uint8Array(1024);
  try {
    while (await socket.read(bytes) !== null) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  } catch {
    // Cut, or closed by the test
  }
}

/** What clients do to an application whose list of visits is long. */
export const HARMS: Readonly<Record<string, Harm>> = {
  [`${many(500)} clients that read nothing of a list`]: async (url) =>
    heldBy(await open(many(500), () => openGet(`${url}/visits`)), true),
  [`${many(500)} clients that read 1 KB/s of a list`]: async (url) => {
    const reading: Promise<void>[] = [];
    const sockets = await open(many(500), async () => {
      const socket = await openGet(`${url}/visits`);
      reading.push(readSlowly(socket));
      return socket;
    });
    const close = async () => {
      sockets.forEach((socket) => socket.close());
      await Promise.all(reading);
    };
    return { isCut: true, close };
  },
  [`${many(200)} pipelined lists`]: async (url) => {
    const socket = await openGet(`${url}/visits`);
    for (let left = many(200) - 1; left > 0; left--) await sendGet(socket, "/visits");
    return heldBy([socket], true);
  },
  [`${many(2000)} idle connections`]: async (url) =>
    heldBy(await open(many(2000), () => begin(url, ""))),
  [`${many(500)} half-sent heads and bodies`]: async (url) =>
    heldBy(await open(many(500), (index) => begin(url, PHASES[index % 3 + 1] ?? ""))),
  [`${many(1000)} clients that vanish in every phase`]: async (url) => {
    const phase = (index: number) => begin(url, PHASES[index % PHASES.length] ?? "");
    heldBy(await open(many(1000), phase)).close();
    return heldBy([]);
  },
};
