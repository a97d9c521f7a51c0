export interface RequestRawOptions {
  /**
   * In milliseconds.
   *
   * @default {60_000}
   */
  timeout?: number;
}

export interface RawReply {
  /** 0 if the answer is no HTTP. */
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Chunks stay chunks. */
  readonly body: string;
  /** Empty if the server hung up. */
  readonly text: string;
  readonly closed: boolean;
}

/**
 * For requests that no HTTP client would send. Reads until the server hangs up or the time is over, so `Connection:
 * close` ends it soonest.
 *
 * @param url Only host and port count.
 * @param payload With CRLF line ends.
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

/** A reset or the time limit is an end too. */
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
