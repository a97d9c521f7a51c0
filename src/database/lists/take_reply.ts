import { Buffer } from "node:buffer";

/** The driver's cursor, with the reply that is not in its types. Without one, it reads the next. */
export interface ReplyCursor {
  readonly documents?: Reply | null;
}

interface Reply {
  readonly iterated?: unknown;
  readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
  clear?(): void;
}

/** The bytes of a BSON array. */
interface ReplyArray {
  readonly array: Buffer;
  readonly start: number;
}

/** Takes the bytes of a reply. The driver's list of its documents is let go: a stalled client would have it held. */
export function takeReply(cursor: ReplyCursor): ReplyArray | undefined {
  const { documents: reply } = cursor;
  const { bson, offset } = reply?.batch ?? {};
  const known = bson instanceof Uint8Array && typeof offset === "number" &&
    reply?.iterated === 0 && typeof reply.clear === "function";
  if (!known) return undefined;
  reply.clear?.();
  Reflect.set(cursor, "documents", null);
  return { array: Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength), start: offset };
}
