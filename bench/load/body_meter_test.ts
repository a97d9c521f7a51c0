import { assertEquals, assertThrows } from "@std/assert";
import { ChunkedBody, SizedBody } from "./body_meter.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("SizedBody ends with its length, at once without any", () => {
  const body = new SizedBody(3);
  assertEquals([body.take(encode("ab")), body.take(encode("c"))], [false, true]);
  assertEquals(new SizedBody(0).take(encode("")), true);
});

Deno.test("ChunkedBody counts the same wherever the buffers are cut", () => {
  const bytes = encode("5\r\nhello\r\n10;a=b\r\n0123456789abcdef\r\n0\r\n\r\n");
  for (let size = 1; size <= bytes.length; size++) {
    const body = new ChunkedBody();
    const ends: boolean[] = [];
    for (let start = 0; start < bytes.length; start += size) {
      ends.push(body.take(bytes.subarray(start, start + size)));
    }
    assertEquals(body.bytes, 21);
    assertEquals(ends.indexOf(true), ends.length - 1);
  }
});

Deno.test("ChunkedBody refuses what is no chunk", () => {
  assertThrows(() => new ChunkedBody().take(encode("{}\r\n")), Error, "a chunk has no length");
});
