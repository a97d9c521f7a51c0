import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { ownMemory } from "./owned_memory.ts";

/** The driver's cursor, with the reply that is not in its types. Without one, it reads the next. */
export interface ReplyCursor {
  readonly server?: { readonly pool?: { readonly options?: PoolOptions } };
  readonly documents?: Reply | null;
}

/** What connections are made with; the options of the client may have changed since. */
interface PoolOptions {
  readonly monitorCommands?: unknown;
  readonly autoEncryption?: unknown;
}

interface Reply {
  readonly iterated?: unknown;
  readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
  readonly $clusterTime?: unknown;
  clear?(): void;
}

/** The bytes of a BSON array. */
interface ReplyArray {
  readonly array: Buffer;
  readonly start: number;
}

/** The bytes of a message before its document. */
const HEAD = 21;

/** Takes the bytes of a reply. The driver's list of its documents is let go: a stalled client would have it held. */
export function takeReply(cursor: ReplyCursor): ReplyArray | undefined {
  const { documents: reply, server } = cursor;
  const { bson, offset } = reply?.batch ?? {};
  const known = bson instanceof Uint8Array && typeof offset === "number" &&
    reply?.iterated === 0 && typeof reply.clear === "function";
  if (!known) return undefined;
  if (!isWatched(server?.pool?.options) && leaveTime(reply)) ownMemory(bson, HEAD);
  reply.clear?.();
  Reflect.set(cursor, "documents", null);
  return { array: Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength), start: offset };
}

/** Whether others are given replies: what they get may look into the same memory. */
function isWatched({ monitorCommands, autoEncryption }: PoolOptions = {}): boolean {
  return monitorCommands !== false || autoEncryption !== undefined;
}

/**
 * Gives the signature of the cluster's time, which the driver goes on to use, memory of its own.
 *
 * @returns `false` if the time is not as expected.
 */
function leaveTime({ $clusterTime: time }: Reply): boolean {
  // A database that is alone has none
  if (time === null) return true;
  const { clusterTime, signature, ...rest } = Object(time) as Record<string, unknown>;
  const { hash, keyId: _, ...others } = Object(signature) as Record<string, unknown>;
  const isKnown = clusterTime instanceof mongoose.mongo.Timestamp &&
    hash instanceof mongoose.mongo.Binary && Object.keys({ ...rest, ...others }).length === 0;
  if (isKnown) hash.buffer = Buffer.from(hash.buffer);
  return isKnown;
}
