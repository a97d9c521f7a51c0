import type { Runtime } from "./servers.ts";

/** What a goal is about. */
export type Figure = "ratio" | "toLean" | "firstByteMs" | "peakMb";

/** A figure that Mongrove is to reach. */
export interface Goal {
  /** The scenario's name. */
  readonly scenario: string;
  /** What is measured. */
  readonly figure: Figure;
  /** At most this much, by runtime. */
  readonly most: Readonly<Record<Runtime, number>>;
}

/** The goals that were set before the work began. */
export const GOALS: readonly Goal[] = [
  goal("list-1000", "ratio", 0.20, 0.25),
  goal("list-20", "ratio", 0.55, 0.9),
  goal("one-16", "ratio", 0.65, 1.1),
  goal("list-100000", "ratio", 0.18, 0.18),
  goal("list-100000", "firstByteMs", 40, 40),
  goal("list-100000", "peakMb", 180, 180),
  goal("update", "ratio", 1.5, 2.0),
  goal("create", "ratio", 1.7, 2.3),
  goal("hook-lean", "ratio", 1.1, 1.1),
  goal("page-20", "toLean", 0.8, 0.9),
  goal("populated-50", "toLean", 0.5, 0.5),
];

function goal(scenario: string, figure: Figure, deno: number, node: number): Goal {
  return { scenario, figure, most: { deno, node } };
}
