import mongoose from "mongoose";

const { BSON } = mongoose.mongo;

type Bytes = Uint8Array<ArrayBuffer>;

export type WireDocument = Record<string, unknown>;

/** The documents of a message. */
export interface WireContent {
  readonly document: WireDocument;
  /** Lists outside of the command's document, such as the updates of an update. */
  readonly lists: Readonly<Record<string, readonly WireDocument[]>>;
}

export interface WireMessage extends WireContent {
  readonly id: number;
  /** The request of this reply. */
  readonly responseTo: number;
}

/** `undefined` leaves a message unchanged. */
export interface WireChange {
  request(message: WireMessage): Partial<WireContent> | undefined;
  reply?(message: WireMessage): Partial<WireContent> | undefined;
}

/** A way to a database whose messages are changed. */
export interface WireProxy extends Disposable {
  /** Without the name of a database. */
  readonly uri: string;
}

/** Messages with documents. */
const [OP_REPLY, OP_MSG] = [1, 2013] as const;

/** The sections of a message: its document, and a list. */
const [DOCUMENT, LIST] = [0, 1] as const;

/** @param changeOf Returns the changes for a new connection. */
export function openWireProxy(to: string, changeOf: () => WireChange): WireProxy {
  const { hostname, port } = new URL(to);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const sockets = new Set<Deno.Conn>();
  const accept = async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname, port: Number(port) });
      sockets.add(client).add(server);
      const change = changeOf();
      pipe(client, {
        to: server,
        change: (each) => changed(each, (given) => change.request(given)),
      });
      pipe(server, {
        to: client,
        change: (each) => changed(each, (given) => change.reply?.(given)),
      });
    }
  };
  accept().catch(() => {});
  return {
    uri: `mongodb://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`,
    [Symbol.dispose]() {
      listener.close();
      for (const socket of sockets) close(socket);
    },
  };
}

async function pipe(
  from: Deno.Conn,
  { to, change }: { readonly to: Deno.Conn; readonly change: (message: Bytes) => Bytes },
): Promise<void> {
  const writer = to.writable.getWriter();
  try {
    for await (const message of messagesOf(from)) await writer.write(change(message));
  } catch { /* The other end has closed the connection. */ }
  close(from);
  close(to);
}

function close(socket: Deno.Conn): void {
  try {
    socket.close();
  } catch { /* It is closed already. */ }
}

async function* messagesOf(from: Deno.Conn): AsyncGenerator<Bytes> {
  const buffer = new Uint8Array(65_536);
  let rest: Bytes = new Uint8Array();
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    rest = joined(rest, buffer.slice(0, count));
    while (rest.length >= 16 && rest.length >= numberAt(rest, 0)) {
      const length = numberAt(rest, 0);
      yield rest.slice(0, length);
      rest = rest.slice(length);
    }
  }
}

function changed(
  bytes: Bytes,
  change: (message: WireMessage) => Partial<WireContent> | undefined,
): Bytes {
  const code = numberAt(bytes, 12);
  if (code !== OP_REPLY && code !== OP_MSG) return bytes;
  const isReply = code === OP_REPLY;
  const content = isReply ? { document: documentAt(bytes, 36), lists: {} } : contentOf(bytes);
  const result = change({ id: numberAt(bytes, 4), responseTo: numberAt(bytes, 8), ...content });
  if (result === undefined) return bytes;
  const { document, lists } = { ...content, ...result };
  const made = isReply ? joined(bytes.slice(0, 36), BSON.serialize(document)) : joined(
    bytes.slice(0, 20),
    Uint8Array.of(DOCUMENT),
    BSON.serialize(document),
    ...Object.entries(lists).map(([name, list]) => listSection(name, list)),
  );
  new DataView(made.buffer).setInt32(0, made.length, true);
  return made;
}

function contentOf(bytes: Bytes): WireContent {
  let document: WireDocument = {};
  const lists: Record<string, WireDocument[]> = {};
  for (let at = 20; at < bytes.length;) {
    const length = numberAt(bytes, at + 1);
    if (bytes[at] === DOCUMENT) document = documentAt(bytes, at + 1);
    else {
      const begin = bytes.indexOf(0, at + 5) + 1;
      const name = new TextDecoder().decode(bytes.slice(at + 5, begin - 1));
      const list: WireDocument[] = lists[name] = [];
      for (let each = begin; each < at + 1 + length; each += numberAt(bytes, each)) {
        list.push(documentAt(bytes, each));
      }
    }
    at += 1 + length;
  }
  return { document, lists };
}

function listSection(name: string, list: readonly WireDocument[]): Bytes {
  const content = joined(
    new TextEncoder().encode(`${name}\0`),
    ...list.map((each) => BSON.serialize(each)),
  );
  const size = new Uint8Array(4);
  new DataView(size.buffer).setInt32(0, content.length + 4, true);
  return joined(Uint8Array.of(LIST), size, content);
}

/** With the types of its numbers, so that it can be written again. */
function documentAt(bytes: Bytes, at: number): WireDocument {
  const own = bytes.slice(at, at + numberAt(bytes, at));
  return BSON.deserialize(own, { promoteValues: false, bsonRegExp: true });
}

function numberAt(bytes: Bytes, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getInt32(at, true);
}

function joined(...parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
