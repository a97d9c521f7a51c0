import { itemId } from "./items.ts";
import { DEEP, DEEP_SORT } from "./ranked.ts";
import { read, type Scenario } from "./scenarios.ts";

/** How a page is reached: behind a page that the server has shown, behind any entity, or by a number. */
export const WAYS = ["next", "after", "skip"] as const;

/** One of {@linkcode WAYS}. */
export type Way = typeof WAYS[number];

const SIZE = 20;

/** How many pages a walk goes on. */
const STEPS = 20;

/** How many documents a round may pass by `skip`: fewer requests for deep pages tell enough. */
const PASSED = 2_000_000;

/** The same page of a large collection by either way, deeper and deeper, to its last page. */
export function pagesByDepth(documents: number): Scenario[] {
  const depths = [0, 100, 1_000, 10_000, 100_000].filter((depth) => depth < documents - SIZE);
  return WAYS.flatMap((way) =>
    [...depths, documents - SIZE].map((depth) => ({
      name: nameOf(way, depth),
      title: `page ${way} ${depth}`,
      connections: 1,
      traffic: read(...placesOf(way, { depth, documents }).map(pathOf)),
      feature: "deep" as const,
      ...way === "skip" && depth >= 1_000 && { most: Math.ceil(PASSED / depth) },
    }))
  );
}

/** Names the scenario of a page. */
export function nameOf(way: Way, depth: number): string {
  return `${way} ${depth}`;
}

function pathOf(place: string): string {
  return `/${DEEP}?limit=${SIZE}&sort=${DEEP_SORT}${place}`;
}

/**
 * Where the pages of a scenario begin. A walk begins with the page before, and is repeated; no page of a walk ends with an
 * entity that other pages are behind.
 */
function placesOf(
  way: Way,
  { depth, documents }: { readonly depth: number; readonly documents: number },
): string[] {
  if (depth === 0) return [""];
  if (way === "skip") return [`&skip=${depth}`];
  if (way === "after") return [`&after=${itemId(depth - 1 - SIZE / 2)}`];
  const first = Math.min(depth, documents - STEPS * SIZE) - SIZE;
  const starts = Array.from({ length: STEPS + 1 }, (_, step) => first + step * SIZE);
  return starts.map((start) => `&after=${itemId(start - 1)}`);
}
