import { openGet, readSome, sendGet } from "./sockets.ts";

/** Clients with a connection each, which send the next request after each answer. */
export interface BusyClients {
  readonly fewest: number;
  /** Sent away by `Connection: close`, or without an answer to the last request. */
  readonly ends: Promise<("sent away" | "lost")[]>;
}

/** Keeps connections busy until the server ends them. */
export function keepBusy(url: string, count: number): BusyClients {
  const clients = Array.from({ length: count }, () => new BusyClient(url));
  return {
    get fewest() {
      return Math.min(...clients.map(({ answers }) => answers));
    },
    ends: Promise.all(clients.map((client) => client.run())),
  };
}

class BusyClient {
  answers = 0;
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async run(): Promise<"sent away" | "lost"> {
    using socket = await openGet(this.#url);
    try {
      while (!/^connection: close\r$/im.test(await readAnswer(socket))) {
        this.answers++;
        await sendGet(socket, new URL(this.#url).pathname);
      }
      return "sent away";
    } catch {
      return "lost";
    }
  }
}

async function readAnswer(socket: Deno.TcpConn): Promise<string> {
  for (let text = "";;) {
    const more = await readSome(socket);
    if (more === "") throw new Error("The connection has ended");
    text += more;
    const [head, body] = text.split("\r\n\r\n");
    const length = /^content-length: (\d+)\r$/im.exec(text)?.[1];
    if (body?.length === Number(length)) return `${head}\r\n`;
  }
}
