import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { RecentDocuments } from "./recent_documents.ts";

const LARGEST = 2 ** 20;

Deno.test("RecentDocuments gives a document as it was when it was kept", () => {
  const recent = new RecentDocuments<string>({ most: LARGEST, largest: LARGEST });
  const bytes = Buffer.from("abc");
  recent.keep("a", { bytes, note: "one" });
  bytes[0] = 0x7a;
  assertEquals(recent.find("a"), { bytes: Buffer.from("abc"), note: "one" });
  assertEquals(recent.find("b"), undefined);
  recent.keep("a", { bytes: Buffer.from("abd"), note: "two" });
  assertEquals(recent.find("a"), { bytes: Buffer.from("abd"), note: "two" });
});

Deno.test("RecentDocuments forgets what was not asked for the longest, and takes nothing too large", () => {
  const recent = new RecentDocuments<null>({ most: 1040, largest: LARGEST });
  const document = { bytes: Buffer.from("1234"), note: null };
  recent.keep("a", document);
  recent.keep("b", document);
  recent.find("a");
  recent.keep("c", document);
  recent.keep("d", { bytes: Buffer.alloc(1041), note: null });
  const found = ["a", "b", "c", "d"].filter((key) => recent.find(key) !== undefined);
  assertEquals(found, ["a", "c"]);
  const small = new RecentDocuments<null>({ most: 1040, largest: 3 });
  small.keep("a", document);
  assertEquals(small.find("a"), undefined);
});

Deno.test("RecentDocuments counts what an entry costs besides its document", () => {
  const recent = new RecentDocuments<null>({ most: 16 * 1024, largest: LARGEST });
  const keys = Array.from({ length: 100 }, (_, index) => String(index));
  for (const key of keys) recent.keep(key, { bytes: Buffer.alloc(1), note: null });
  const found = keys.filter((key) => recent.find(key) !== undefined);
  assertEquals(found, keys.slice(-31));
});

Deno.test("RecentDocuments holds no memory besides that of its documents", () => {
  const recent = new RecentDocuments<null>({ most: LARGEST, largest: LARGEST });
  for (const length of [1, 100, 5000]) {
    recent.keep("a", { bytes: Buffer.alloc(8192).subarray(0, length), note: null });
    assertEquals(recent.find("a")?.bytes.buffer.byteLength, length);
  }
});
