import { CREATED, guarded, type HookKind, itemsOf, TARGETS, UPDATED } from "./collections.ts";
import { PAGED } from "./ranked.ts";
import { CREATE, read, READ_ONE, readList, type Scenario, SCENARIOS, UPDATE } from "./scenarios.ts";
import type { Traffic } from "./scenarios.ts";

/** The server by hand that a scenario is held against: it gives its hook what Mongrove's hooks get. */
export const BY_HAND: Readonly<Record<HookKind, string>> = {
  documents: "express_hydrated",
  lean: "express_lean",
};

/** The servers that take part unless others are named. */
export const HOOK_SERVERS: readonly string[] = ["mongrove", ...Object.values(BY_HAND)];

/** What is measured without a hook, against lean Mongoose. */
const WITHOUT = ["list-20", "list-1000", "one", "update", "create"];

const PAGE: Traffic = { ...read(), page: { route: PAGED, size: 20 } };

/** Requests with one hook that looks at a field of the entity, and the same without a hook. */
export const HOOK_SCENARIOS: readonly Scenario[] = [
  ...reads("documents"),
  guard("documents", "update", UPDATE),
  guard("documents", "create", CREATE),
  ...reads("lean"),
  ...SCENARIOS.filter(({ name }) => WITHOUT.includes(name)).map((each): Scenario => ({
    ...each,
    title: `${each.title}, no hook`,
    byHand: BY_HAND.lean,
  })),
];

function reads(kind: HookKind): Scenario[] {
  return [
    guard(kind, "list-20", readList(20)),
    guard(kind, "list-1000", read(`/${itemsOf(TARGETS)}`)),
    guard(kind, "one", READ_ONE),
    guard(kind, "page-20", PAGE),
  ];
}

/** The same traffic on the routes with a hook. */
function guard(kind: HookKind, name: string, traffic: Traffic): Scenario {
  const { paths, page } = traffic;
  const guardPath = (path: string) => `/${guarded(kind, path.slice(1))}`;
  return {
    name: `${kind}-${name}`,
    title: `${name}, hook on ${kind === "lean" ? "plain objects" : "documents"}`,
    connections: 4,
    feature: kind,
    byHand: BY_HAND[kind],
    traffic: {
      ...traffic,
      paths: paths.map(guardPath),
      ...page && { page: { ...page, route: guarded(kind, page.route) } },
    },
  };
}

/** Collections that routes with hooks serve. */
export const GUARDED: readonly string[] = [itemsOf(20), itemsOf(TARGETS), UPDATED, CREATED];
