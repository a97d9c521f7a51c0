import { assertEquals, assertNotEquals } from "@std/assert";
import { byRank, RANKED_COUNT, rankOf, WRITER_COUNT, writerOf } from "./ranked.ts";

Deno.test("rankOf() gives every entity a rank of its own, in another order", () => {
  const ranks = byRank().map(rankOf);
  assertEquals(ranks, Array.from({ length: RANKED_COUNT }, (_, place) => RANKED_COUNT - 1 - place));
  assertNotEquals(byRank(), byRank().toSorted((a, b) => b - a));
});

Deno.test("writerOf() gives a page of 50 every writer once or twice", () => {
  const writers = byRank().slice(0, 50).map(writerOf);
  assertEquals(new Set(writers).size, WRITER_COUNT);
});
