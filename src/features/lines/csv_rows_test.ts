import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { cellsOf, RowSplitter, textOf } from "./csv_rows.ts";

const TABLE = '\ufeff"a","b"\r\n"x\r\n""y""",1\n\n"",é😀\r\n,"\n",\n"open,\n';

function rowsOf(chunks: readonly Uint8Array[]): [line: number, text: string][] {
  const splitter = new RowSplitter();
  const rows: [number, string][] = [];
  for (const chunk of [...chunks, null]) {
    splitter.add(chunk);
    for (let row = splitter.take(); row !== undefined; row = splitter.take()) {
      rows.push([row.line, textOf(row)]);
    }
  }
  return rows;
}

Deno.test("RowSplitter.take() returns the same rows however the bytes are cut", () => {
  const bytes = Buffer.from(TABLE);
  const rows = rowsOf([bytes]);
  assertEquals(rows, [
    [1, '\ufeff"a","b"'],
    [2, '"x\r\n""y""",1'],
    [5, '"",é😀'],
    [6, ',"\n",'],
    [8, '"open,\n'],
  ]);
  for (let size = 1; size < bytes.length; size++) {
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, index) => bytes.subarray(index * size, (index + 1) * size),
    );
    assertEquals([size, rowsOf(chunks)], [size, rows]);
  }
});

Deno.test("RowSplitter holds the bytes of a row and not its chunks, which a client can make tiny", () => {
  const splitter = new RowSplitter();
  const chunk = new Uint8Array(1);
  const rows: string[] = [];
  for (const byte of Buffer.from("a,b\n1,2\n")) {
    chunk[0] = byte;
    splitter.add(chunk);
    const row = splitter.take();
    if (row !== undefined) rows.push(textOf(row));
  }
  assertEquals(rows, ["a,b", "1,2"]);
});

Deno.test("RowSplitter.take() returns none of a million empty rows", () => {
  const rows = rowsOf([
    Buffer.from("\r\n".repeat(500_000)),
    Buffer.from("\n".repeat(500_000) + "a"),
  ]);
  assertEquals(rows, [[1_000_001, "a"]]);
});

Deno.test("cellsOf() splits a row into cells, and no further than it must", () => {
  assertEquals(cellsOf('a,"b ""c"", d",,""'), [
    { text: "a", isQuoted: false },
    { text: 'b "c", d', isQuoted: true },
    { text: "", isQuoted: false },
    { text: "", isQuoted: true },
  ]);
  assertEquals(cellsOf(",".repeat(1000), 2).length, 3);
});
