import mongoose from "mongoose";

const { BSON } = mongoose.mongo;

/** A way to a replica set of one member that looks like the router of a sharded cluster. */
export interface RouterProxy extends Disposable {
  /** The URI of the database through the proxy, without the name of a database. */
  readonly uri: string;
  /** The recovery tokens of the commits, in their order. A commit without a token is `undefined`. */
  readonly commitTokens: readonly unknown[];
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The numbers of the messages of MongoDB's wire protocol that are rewritten. */
const [OP_REPLY, OP_MSG] = [1, 2013] as const;

/** The fields of the reply to `hello` by which the driver recognises a replica set, or waits for news of it. */
const OF_REPLICA_SETS = [
  ...["setName", "setVersion", "hosts", "primary", "me", "electionId", "secondary", "lastWrite"],
  ...["topologyVersion"],
];

/** The token that a router returns for the statements of a transaction. The driver sends it with the commit. */
const TOKEN = { recoveredShard: "shard0" };

/**
 * Opens a proxy that rewrites the replies to `hello`, so that the driver takes its path for sharded clusters. Replies to
 * statements of a transaction get a recovery token, which the proxy takes out of the commit, because only a router
 * knows it.
 *
 * @param to The URI of the replica set.
 */
export function openRouterProxy(to: string): RouterProxy {
  const { hostname, port } = new URL(to);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const sockets = new Set<Deno.Conn>();
  const commitTokens: unknown[] = [];
  const accept = async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname, port: Number(port) });
      sockets.add(client).add(server);
      const connection = new RouterConnection(commitTokens);
      pipe(client, { to: server, change: (each) => connection.request(each) });
      pipe(server, { to: client, change: (each) => connection.reply(each) });
    }
  };
  accept().catch(() => {});
  return {
    uri: `mongodb://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`,
    commitTokens,
    [Symbol.dispose]() {
      listener.close();
      for (const socket of sockets) close(socket);
    },
  };
}

/** Sends the messages of a connection to another one. */
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

/** Reads a connection message by message. */
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

/** The messages of one connection of the driver. */
class RouterConnection {
  readonly #commitTokens: unknown[];
  /** The identifiers of the requests that are statements of a transaction. */
  readonly #transactions = new Set<number>();

  constructor(commitTokens: unknown[]) {
    this.#commitTokens = commitTokens;
  }

  request(message: Bytes): Bytes {
    const at = documentIn(message);
    if (at === undefined) return message;
    const command = readDocument(message, at);
    if (command.autocommit === undefined) return message;
    this.#transactions.add(numberAt(message, 4));
    if (command.commitTransaction !== undefined) this.#commitTokens.push(command.recoveryToken);
    if (command.recoveryToken === undefined) return message;
    const { recoveryToken: _, ...known } = command;
    return replaced(message, { at, by: known });
  }

  reply(message: Bytes): Bytes {
    const at = documentIn(message);
    if (at === undefined) return message;
    const isOfTransaction = this.#transactions.delete(numberAt(message, 8));
    const reply = readDocument(message, at);
    if (isOfTransaction) return replaced(message, { at, by: { ...reply, recoveryToken: TOKEN } });
    if (reply.setName === undefined) return message;
    const known = Object.entries(reply).filter(([name]) => !OF_REPLICA_SETS.includes(name));
    return replaced(message, { at, by: { ...Object.fromEntries(known), msg: "isdbgrid" } });
  }
}

/** Returns where the document of a message stands. Other documents of a command follow it. */
function documentIn(message: Bytes): number | undefined {
  const code = numberAt(message, 12);
  if (code === OP_REPLY) return 36;
  return code === OP_MSG && message[20] === 0 ? 21 : undefined;
}

/** Reads a document with the types of its numbers, so that it can be written again. */
function readDocument(message: Bytes, at: number): Record<string, unknown> {
  const bytes = message.slice(at, at + numberAt(message, at));
  return BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true });
}

function replaced(
  message: Bytes,
  { at, by }: { readonly at: number; readonly by: object },
): Bytes {
  const after = message.slice(at + numberAt(message, at));
  const made = joined(message.slice(0, at), BSON.serialize(by), after);
  new DataView(made.buffer).setInt32(0, made.length, true);
  return made;
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
