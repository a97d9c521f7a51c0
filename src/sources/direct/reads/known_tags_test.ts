import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { KnownTags } from "./known_tags.ts";

Deno.test("KnownTags knows a tag as long as not a byte changes", () => {
  const tags = new KnownTags();
  const stored = Buffer.from("abc");
  tags.keep("a", { bytes: stored, tag: "tag" });
  assertEquals(tags.find("a", Buffer.from("abc")), "tag");
  assertEquals(tags.find("a", Buffer.from("abd")), undefined);
  assertEquals(tags.find("b", Buffer.from("abc")), undefined);
  stored[0] = 0x7a;
  assertEquals(tags.find("a", Buffer.from("abc")), "tag");
  tags.keep("a", { bytes: Buffer.from("abd"), tag: "other" });
  assertEquals(tags.find("a", Buffer.from("abc")), undefined);
  assertEquals(tags.find("a", Buffer.from("abd")), "other");
});

Deno.test("KnownTags forgets what was not asked for the longest, and takes nothing too large", () => {
  const tags = new KnownTags(1040);
  const stored = Buffer.from("1234");
  tags.keep("a", { bytes: stored, tag: "a" });
  tags.keep("b", { bytes: stored, tag: "b" });
  tags.find("a", stored);
  tags.keep("c", { bytes: stored, tag: "c" });
  tags.keep("d", { bytes: Buffer.alloc(1041), tag: "d" });
  const found = ["a", "b", "c"].map((key) => tags.find(key, stored));
  assertEquals(found, ["a", undefined, "c"]);
  assertEquals(tags.find("d", Buffer.alloc(1041)), undefined);
});

Deno.test("KnownTags counts what an entry costs besides its document", () => {
  const tags = new KnownTags(16 * 1024);
  const stored = Buffer.alloc(1);
  const keys = Array.from({ length: 100 }, (_, index) => String(index));
  for (const key of keys) tags.keep(key, { bytes: stored, tag: key });
  const found = keys.filter((key) => tags.find(key, stored) !== undefined);
  assertEquals(found, keys.slice(-31));
});
