import { itemId } from "./items.ts";
import { DEEP, DEEP_SORT } from "./ranked.ts";
import { read, type Scenario } from "./scenarios.ts";

/** How a page is reached. */
export const WAYS = ["after", "skip"] as const;

/** One of {@linkcode WAYS}. */
export type Way = typeof WAYS[number];

const SIZE = 20;

/** A deep page behind `skip` takes long: so many requests tell enough. */
const MOST = 200;

/** The same page of the largest collection by either way, deeper and deeper, to its last page. */
export function pagesByDepth(documents: number): Scenario[] {
  const depths = [0, 100, 1_000, 10_000].filter((depth) => depth < documents - SIZE);
  return WAYS.flatMap((way) =>
    [...depths, documents - SIZE].map((depth) => ({
      name: nameOf(way, depth),
      title: `page ${way} ${depth}`,
      connections: 4,
      traffic: read(`/${DEEP}?limit=${SIZE}&sort=${DEEP_SORT}${place(way, depth)}`),
      feature: "deep" as const,
      ...way === "skip" && depth >= 1_000 && { most: MOST },
    }))
  );
}

/** Names the scenario of a page. */
export function nameOf(way: Way, depth: number): string {
  return `${way} ${depth}`;
}

function place(way: Way, depth: number): string {
  if (depth === 0) return "";
  return way === "after" ? `&after=${itemId(depth - 1)}` : `&skip=${depth}`;
}
