import { assertEquals } from "@std/assert";
import { pagesByDepth } from "./depth.ts";

Deno.test("pagesByDepth() goes to the last page of the collection, by every way", () => {
  const pages = pagesByDepth(10_000);
  assertEquals(pages.map(({ name }) => name), [
    ...["next 0", "next 100", "next 1000", "next 9980"],
    ...["after 0", "after 100", "after 1000", "after 9980"],
    ...["skip 0", "skip 100", "skip 1000", "skip 9980"],
  ]);
  const last = (9_969).toString(16).padStart(16, "0");
  assertEquals(pages[7]?.traffic.paths, [`/deep?limit=20&sort=created&after=65a0c0de${last}`]);
  assertEquals(pages.at(-1)?.traffic.paths, ["/deep?limit=20&sort=created&skip=9980"]);
});

Deno.test("pagesByDepth() walks on from the page before, to the last one at most", () => {
  const pages = pagesByDepth(10_000);
  const walks = pages.slice(1, 4).map(({ traffic: { paths } }) =>
    paths.map((path) => parseInt(path.slice(-16), 16) + 1)
  );
  assertEquals(walks[0]?.slice(0, 3), [80, 100, 120]);
  assertEquals(walks.map((starts) => starts.length), [21, 21, 21]);
  assertEquals(walks[2]?.slice(-2), [9_960, 9_980]);
});
