import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { BsonReader } from "./bson_reader.ts";
import { JsonWriter } from "./json_writer.ts";

/** The writer begins with a buffer of one byte, so that it must grow. */
function stringOf(bytes: Uint8Array): string {
  const out = new JsonWriter(1);
  out.string(new BsonReader(Buffer.from(bytes)), bytes.length);
  return out.written.toString();
}

Deno.test("JsonWriter.string() writes ASCII as it is", () => {
  const text = " !#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~";
  assertEquals(stringOf(Buffer.from(text)), `"${text}"`);
});

Deno.test("JsonWriter.string() escapes what JSON cannot hold, like JSON.stringify", () => {
  for (let code = 0; code < 0x100; code++) {
    const text = `a${String.fromCharCode(code)}b`;
    assertEquals(stringOf(Buffer.from(text)), JSON.stringify(text), `character ${code}`);
  }
});

Deno.test("JsonWriter.string() writes all of UTF-8, like JSON.stringify", () => {
  for (
    const text of ["", "é", "€", "😀", "\u2028\u2029", "\ufeff", "\uffff", "\u{10ffff}", "a\0b"]
  ) {
    assertEquals(stringOf(Buffer.from(text)), JSON.stringify(text));
  }
});

Deno.test("JsonWriter.string() replaces what is no UTF-8", () => {
  const cases: [number[], string][] = [
    [[0xff], "\ufffd"],
    [[0x61, 0xc3], "a\ufffd"],
    [[0xc3, 0x28], "\ufffd("],
    [[0xe2, 0x82], "\ufffd"],
    [[0xc0, 0x80], "\ufffd\ufffd"],
    [[0xf4, 0x90, 0x80, 0x80], "\ufffd\ufffd\ufffd\ufffd"],
  ];
  for (const [bytes, expected] of cases) {
    assertEquals(stringOf(Uint8Array.from(bytes)), JSON.stringify(expected));
  }
});

Deno.test("JsonWriter.string() replaces lone surrogates that are encoded as bytes", () => {
  const text = JSON.parse(stringOf(Uint8Array.from([0xed, 0xa0, 0x80, 0x61])));
  assertEquals(text, "\ufffd\ufffd\ufffda");
});

Deno.test("JsonWriter.string() takes only the bytes that it is told", () => {
  const out = new JsonWriter(4);
  out.string(new BsonReader(Buffer.from("xabcx"), 1), 4);
  assertEquals(out.written.toString(), '"abc"');
});

Deno.test("JsonWriter.string() gives way to the runtime when an escape comes late", () => {
  const text = `${"a".repeat(10_000)}"${"b".repeat(10_000)}\n`;
  assertEquals(stringOf(Buffer.from(text)), JSON.stringify(text));
});

Deno.test("JsonWriter.string() grows when every character becomes six", () => {
  const text = "\u0001".repeat(5000);
  assertEquals(stringOf(Buffer.from(text)), JSON.stringify(text));
});

Deno.test("JsonWriter.reserve() keeps what is written when the buffer grows", () => {
  const out = new JsonWriter(2);
  out.ascii("ab");
  out.reserve(1);
  out.byte(0x63);
  out.reserve(100);
  out.raw(Buffer.from("d".repeat(100)));
  assertEquals(out.written.toString(), `abc${"d".repeat(100)}`);
});

Deno.test("JsonWriter.text() writes text beyond ASCII without room for it", () => {
  const out = new JsonWriter(1);
  out.text("€😀é");
  assertEquals(out.written.toString(), "€😀é");
});

Deno.test("JsonWriter.hex() writes two digits for each byte", () => {
  const out = new JsonWriter(16);
  out.hex(new BsonReader(Buffer.from([0, 9, 10, 0x7f, 0xff, 1])), 5);
  assertEquals(out.written.toString(), "00090a7fff");
});

Deno.test("JsonWriter.written keeps what was taken when more is written", () => {
  const out = new JsonWriter(4);
  out.ascii("ab");
  const first = out.written;
  out.ascii("cdefgh");
  assertEquals([first.toString(), out.written.toString()], ["ab", "abcdefgh"]);
});

Deno.test("JsonWriter.length may be set back, so that what follows takes its place", () => {
  const out = new JsonWriter(4);
  out.ascii("abc");
  const before = out.length;
  out.ascii("wrong");
  out.length = before;
  out.ascii("d");
  assertEquals(out.written.toString(), "abcd");
});
