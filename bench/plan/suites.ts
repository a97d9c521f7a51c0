import { type Effort, HOOKS } from "./effort.ts";
import { GROUP_SCENARIOS, GROUP_SERVERS } from "./groups.ts";
import { HOOK_SCENARIOS, HOOK_SERVERS } from "./hooks.ts";
import type { Scenario } from "./scenarios.ts";
import { WRITE_SCENARIOS, WRITE_SERVERS } from "./writes.ts";

/** Scenarios of their own, each beside a server by hand. */
export interface Suite {
  /** What is measured, in this order. */
  readonly scenarios: readonly Scenario[];
  /** The servers that take part unless others are named. */
  readonly servers: readonly string[];
  readonly effort: Effort;
  /** Whether the database has transactions. */
  readonly transactions: boolean;
}

/** The name of a suite on the command line. */
export type SuiteName = "groups" | "hooks" | "writes";

export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  groups: {
    ...{ scenarios: GROUP_SCENARIOS, servers: GROUP_SERVERS, effort: HOOKS, transactions: false },
  },
  hooks: {
    ...{ scenarios: HOOK_SCENARIOS, servers: HOOK_SERVERS, effort: HOOKS, transactions: false },
  },
  writes: {
    ...{ scenarios: WRITE_SCENARIOS, servers: WRITE_SERVERS, effort: HOOKS, transactions: true },
  },
};

export function isSuiteName(name: string): name is SuiteName {
  return Object.hasOwn(SUITES, name);
}
