import { IS_DENO } from "./runtime.ts";

/** Memory that is worth it, and more than a read of a socket brings. */
const LARGE = 64 * 1024;

const owned = new WeakSet<ArrayBufferLike>();

/**
 * Notes that nothing else reads the memory of some bytes: who uses them up may free it. They have to be all of it, but
 * for a head.
 */
export function ownMemory({ buffer, byteOffset, byteLength }: Uint8Array, head = 0): void {
  const isWhole = byteOffset === head && head + byteLength === buffer.byteLength;
  // Node reads and writes all bytes more slowly once it has freed some
  if (IS_DENO && isWhole && byteLength > LARGE) owned.add(buffer);
}

/**
 * Frees the memory of bytes that are used up, if it is owned. The collector of garbage would count it until its next run,
 * and run several times a second beside lists.
 */
export function freeMemory({ buffer }: Uint8Array): void {
  if (owned.delete(buffer) && "transfer" in buffer) buffer.transfer(0);
}
