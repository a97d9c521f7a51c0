import { assertEquals } from "@std/assert";
import { pagesByDepth } from "./depth.ts";

Deno.test("pagesByDepth() goes to the last page of the collection, by either way", () => {
  const pages = pagesByDepth(10_000);
  assertEquals(pages.map(({ name }) => name), [
    ...["after 0", "after 100", "after 1000", "after 9980"],
    ...["skip 0", "skip 100", "skip 1000", "skip 9980"],
  ]);
  const last = (9_979).toString(16).padStart(16, "0");
  assertEquals(pages[3]?.traffic.paths, [`/deep?limit=20&sort=created&after=65a0c0de${last}`]);
  assertEquals(pages.at(-1)?.traffic.paths, ["/deep?limit=20&sort=created&skip=9980"]);
});
