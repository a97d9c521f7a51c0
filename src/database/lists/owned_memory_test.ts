import { assertEquals } from "@std/assert";
import { freeMemory, ownMemory } from "./owned_memory.ts";

const SIZE = 100_000;

/** How many bytes are left of some that were owned and freed. */
function leftOf(bytes: Uint8Array, head?: number): number {
  ownMemory(bytes, head);
  freeMemory(bytes);
  return bytes.byteLength;
}

Deno.test("freeMemory() frees what is owned", () => {
  assertEquals(leftOf(new Uint8Array(SIZE)), 0);
  assertEquals(leftOf(new Uint8Array(SIZE).subarray(21), 21), 0);
});

Deno.test("freeMemory() frees by any part of what is owned, once", () => {
  const bytes = new Uint8Array(SIZE);
  ownMemory(bytes);
  freeMemory(bytes.subarray(10, 20));
  assertEquals(bytes.byteLength, 0);
  freeMemory(bytes);
});

Deno.test("freeMemory() leaves what nobody owns", () => {
  const bytes = new Uint8Array(SIZE);
  freeMemory(bytes);
  assertEquals(bytes.byteLength, SIZE);
});

Deno.test("ownMemory() leaves a part of memory to those who hold the rest, and what is small", () => {
  const bytes = new Uint8Array(SIZE);
  assertEquals(leftOf(bytes.subarray(1)), SIZE - 1);
  assertEquals(leftOf(bytes.subarray(0, -1)), SIZE - 1);
  assertEquals(leftOf(bytes.subarray(20), 21), SIZE - 20);
  assertEquals(leftOf(bytes.subarray(21, -1), 21), SIZE - 22);
  assertEquals(leftOf(new Uint8Array(1000)), 1000);
});
