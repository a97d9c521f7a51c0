import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { freeMemory } from "./owned_memory.ts";
import { takeReply } from "./take_reply.ts";

const { Binary, Long, Timestamp } = mongoose.mongo;

const SIZE = 100_000;

const POOL = { monitorCommands: false };

function timeOf(): Record<string, unknown> {
  const signature = { hash: new Binary(Buffer.alloc(20, 7)), keyId: Long.ONE };
  return { clusterTime: new Timestamp({ t: 1, i: 1 }), signature };
}

/** How many bytes are left of a reply that was taken, and used up. */
function leftOf(options?: object, time: unknown = null): number | undefined {
  const bson = Buffer.alloc(21 + SIZE).subarray(21);
  const documents = {
    iterated: 0,
    batch: { bson, offset: 0 },
    $clusterTime: time,
    clear() {},
  };
  const reply = takeReply({ documents, ...options && { server: { pool: { options } } } });
  if (reply !== undefined) freeMemory(reply.array);
  return reply?.array.length;
}

Deno.test("takeReply() gives replies that can be freed", () => {
  assertEquals(leftOf(POOL), 0);
  assertEquals(leftOf(POOL, timeOf()), 0);
});

Deno.test("takeReply() keeps what others may look into", () => {
  assertEquals(leftOf(), SIZE);
  assertEquals(leftOf({}), SIZE);
  assertEquals(leftOf({ monitorCommands: true }), SIZE);
  assertEquals(leftOf({ ...POOL, autoEncryption: {} }), SIZE);
});

Deno.test("takeReply() keeps replies whose time is not as expected", () => {
  const { clusterTime, signature } = timeOf();
  const unexpected = [
    0,
    {},
    { clusterTime },
    { clusterTime: 1, signature },
    { clusterTime, signature: { hash: Buffer.alloc(20) } },
    { clusterTime, signature, more: 1 },
    { clusterTime, signature: { ...Object(signature), more: 1 } },
  ];
  assertEquals(unexpected.map((time) => leftOf(POOL, time)), unexpected.map(() => SIZE));
});
