/** Options of {@linkcode requestRaw}. */
export interface RequestRawOptions {
  /**
   * How long to wait for the answer to end, in milliseconds.
   *
   * @default {60_000}
   */
  timeout?: number;
}

/** The answer to a {@linkcode requestRaw}. */
export interface RawReply {
  /** The HTTP status; 0 if the answer is no HTTP. */
  readonly status: number;
  /** The headers, their names in lower case. */
  readonly headers: Record<string, string>;
  /** What follows the headers, as it came: chunks stay chunks. */
  readonly body: string;
  /** The whole answer; empty if the server hung up. */
  readonly text: string;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
}

/**
 * Writes bytes to a server's socket, for requests that no HTTP client would send,
 * and reads until the server hangs up or the time is over. `Connection: close`
 * in the request ends it soonest.
 *
 * @param url The server; only host and port count.
 * @param payload The request, with `\r\n` line ends.
 * @param options See {@linkcode RequestRawOptions}.
 * @returns The answer.
 */
export async function requestRaw(
  url: string | URL,
  payload: string | Uint8Array,
  options: RequestRawOptions = {},
): Promise<RawReply> {
  const { timeout = 60_000 } = options;
  const { hostname, port } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    socket.close();
  }, timeout);
  try {
    await writeAll(socket, payload);
    const text = await readAll(socket);
    return { ...parse(text), closed: !isOver };
  } finally {
    clearTimeout(timer);
    if (!isOver) socket.close();
  }
}

async function writeAll(
  socket: Deno.Conn,
  payload: string | Uint8Array,
): Promise<void> {
  let rest = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  while (rest.length > 0) rest = rest.subarray(await socket.write(rest));
}

/** Reads until the end; a reset or our own time limit is an end too. */
async function readAll(socket: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  try {
    for (;;) {
      const count = await socket.read(buffer);
      if (count === null) return text;
      text += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
  } catch {
    return text;
  }
}

function parse(text: string): Omit<RawReply, "closed"> {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: rest.join("\r\n\r\n"),
    text,
  };
}
