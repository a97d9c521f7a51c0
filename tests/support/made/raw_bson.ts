import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";

/** Also stores documents that no driver would write. */
export async function insertRaw(
  uri: string,
  { collection, documents }: { collection: string; documents: readonly Uint8Array[] },
): Promise<void> {
  const { hostname, port, pathname } = new URL(uri);
  const array = bsonOf(documents.map((each, index) => [0x03, String(index), each]));
  const body = bsonOf([
    [0x02, "insert", textOf(collection)],
    [0x04, "documents", array],
    [0x02, "$db", textOf(pathname.slice(1))],
  ]);
  const head = Buffer.alloc(21);
  head.writeInt32LE(21 + body.length);
  head.writeInt32LE(2013, 12);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  try {
    const message = Buffer.concat([head, body]);
    for (let sent = 0; sent < message.length;) sent += await socket.write(message.subarray(sent));
    const answer = Buffer.alloc(4096);
    const size = await socket.read(answer) ?? 0;
    const { n } = mongoose.mongo.BSON.deserialize(answer.subarray(21, size));
    assertEquals(n, documents.length);
  } finally {
    socket.close();
  }
}

export function bsonOf(
  elements: readonly (readonly [number, string | Uint8Array, Uint8Array])[],
): Buffer {
  const parts = elements.flatMap(([type, name, value]) => [
    Buffer.from([type]),
    Buffer.from(name as string),
    Buffer.from([0]),
    value,
  ]);
  const inner = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeInt32LE(inner.length + 5);
  return Buffer.concat([head, inner, Buffer.from([0])]);
}

export function textOf(text: string | Uint8Array): Buffer {
  const bytes = Buffer.from(text as string);
  const head = Buffer.alloc(4);
  head.writeInt32LE(bytes.length + 1);
  return Buffer.concat([head, bytes, Buffer.from([0])]);
}
