import { openGet, sendGet } from "../../support/sockets.ts";
import { isLong } from "../../harness/report.ts";
import { pause } from "./others.ts";

/** What clients do to an application. */
export interface Harm {
  /** Whether the application ends it: it cuts those that take too little of a list. */
  readonly isCut: boolean;
  /** Does it to an application at a URL; gives the connections that stay open. */
  readonly act: (url: string) => Promise<readonly Deno.TcpConn[]>;
}

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

/** Reads 1 KB every second, until the connection ends. */
async function readSlowly(socket: Deno.TcpConn): Promise<void> {
  const bytes = new Uint8Array(1024);
  try {
    while (await socket.read(bytes) !== null) {
      await pause(1000);
    }
  } catch {
    // Cut
  }
}

/** Harms by clients that stay connected. */
const stay =
  (count: number, make: (url: string, index: number) => Promise<Deno.TcpConn>) => (url: string) =>
    open(count, (index) => make(url, index));

async function vanish(count: number, url: string): Promise<[]> {
  const phase = (index: number) => begin(url, PHASES[index % PHASES.length] ?? "");
  for (const socket of await open(count, phase)) socket.close();
  return [];
}

/** What clients do to an application whose list of visits is long. */
export const HARMS: Readonly<Record<string, Harm>> = {
  [`${many(500)} clients that read nothing of a list`]: {
    isCut: true,
    act: stay(many(500), (url) => openGet(`${url}/visits`)),
  },
  [`${many(500)} clients that read 1 KB/s of a list`]: {
    isCut: true,
    act: stay(many(500), async (url) => {
      const socket = await openGet(`${url}/visits`);
      readSlowly(socket);
      return socket;
    }),
  },
  [`${many(200)} pipelined lists`]: {
    isCut: true,
    act: async (url) => {
      const socket = await openGet(`${url}/visits`);
      for (let left = many(200) - 1; left > 0; left--) await sendGet(socket, "/visits");
      return [socket];
    },
  },
  [`${many(2000)} idle connections`]: {
    isCut: false,
    act: stay(many(2000), (url) => begin(url, "")),
  },
  [`${many(500)} half-sent heads and bodies`]: {
    isCut: false,
    act: stay(many(500), (url, index) => begin(url, PHASES[index % 3 + 1] ?? "")),
  },
  [`${many(1000)} clients that vanish in every phase`]: {
    isCut: false,
    act: (url) => vanish(many(1000), url),
  },
  [`${many(1000)} clients that vanish in every phase, in ten seconds`]: {
    isCut: false,
    act: async (url) => {
      for (let left = 10; left > 0; left--) {
        await vanish(many(100), url);
        await pause(1000);
      }
      return [];
    },
  },
};
