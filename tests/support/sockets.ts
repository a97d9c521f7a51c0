/** The test reads the answer itself. */
export async function openGet(
  url: string,
  options: { version?: string; headers?: string } = {},
): Promise<Deno.TcpConn> {
  const { hostname, port, pathname } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await sendGet(socket, pathname, options);
  return socket;
}

/** Sends one GET, or several at once. */
export async function sendGet(
  socket: Deno.Conn,
  path: string,
  { version = "1.1", headers = "", count = 1 }: {
    version?: string;
    headers?: string;
    count?: number;
  } = {},
): Promise<void> {
  const text = `GET ${path} HTTP/${version}\r\nHost: a\r\n${headers}\r\n`;
  let left = new TextEncoder().encode(text.repeat(count));
  // If the server does not read, the system takes only a part of the bytes.
  while (left.length > 0) left = left.subarray(await socket.write(left));
}

/** Reads what has come. */
export async function readSome(socket: Deno.Conn): Promise<string> {
  const bytes = new Uint8Array(65_536);
  return new TextDecoder().decode(bytes.subarray(0, await socket.read(bytes) ?? 0));
}

/** Rejects if the server resets the connection. */
export async function readToEnd(socket: Deno.Conn): Promise<string> {
  return await new Response(socket.readable).text();
}
