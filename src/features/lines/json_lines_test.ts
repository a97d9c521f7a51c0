import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { JsonLines } from "./json_lines.ts";

const TEXT = `{"a":"é"}\n\r\n \t\n${" \n".repeat(100_000)}{"a":2}\r\n[]\n\n{"a":3}`;

function linesOf(chunks: readonly Uint8Array[]): readonly unknown[] {
  const parser = new JsonLines({ maxKeys: 10, maxElements: 10, maxObjects: 10 });
  const lines = [...chunks, null].flatMap((chunk) => [...parser.parse(chunk)]);
  return lines.map(({ line, body, error }) => [line, body ?? error?.status]);
}

Deno.test("JsonLines.parse() yields the same lines however the bytes are cut, and none of white space", () => {
  const bytes = Buffer.from(TEXT);
  const lines = linesOf([bytes]);
  assertEquals(lines, [
    [1, { a: "é" }],
    [100_004, { a: 2 }],
    [100_005, 400],
    [100_007, { a: 3 }],
  ]);
  for (const size of [1, 2, 3, 5, 7, 11, 1000]) {
    const length = Math.ceil(bytes.length / size);
    const cut = Array.from({ length }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
    assertEquals([size, linesOf(cut)], [size, lines]);
  }
});

Deno.test("JsonLines.parse() skips a byte order mark at the beginning alone", () => {
  const bytes = Buffer.from('\ufeff{"a":1}\n\ufeff{"a":2}');
  const cut = Array.from(bytes, (byte) => Uint8Array.of(byte));
  for (const chunks of [[bytes], cut]) assertEquals(linesOf(chunks), [[1, { a: 1 }], [2, 400]]);
});

Deno.test("JsonLines.parse() refuses a line that is not UTF-8", () => {
  const bytes = Buffer.concat([
    Buffer.from('{"a":"M'),
    Buffer.of(0xfc),
    Buffer.from('"}\n{"a":1}'),
  ]);
  assertEquals(linesOf([bytes]), [[1, 400], [2, { a: 1 }]]);
});

Deno.test("JsonLines holds the bytes of a line and not its chunks, which a client can make tiny", () => {
  const parser = new JsonLines({ maxKeys: 10, maxElements: 10, maxObjects: 10 });
  const chunk = new Uint8Array(1);
  const bodies: unknown[] = [];
  for (const byte of Buffer.from('{"a":1}\n{"b":2}\n')) {
    chunk[0] = byte;
    for (const { body } of parser.parse(chunk)) bodies.push(body);
  }
  assertEquals(bodies, [{ a: 1 }, { b: 2 }]);
});
