import type { Mounted } from "../../support/support.ts";
import { as } from "./plans.ts";

/** The plans that the requests write. */
export interface Written {
  readonly plan: string;
  readonly hooked: string;
  readonly other: string;
  readonly step: string;
  readonly both: string;
}

/** A request that writes plans, with the operation and the number of its records. */
export type Way = readonly [
  way: string,
  operation: string,
  records: number,
  send: (app: Mounted, written: Written) => Promise<{ readonly status: number }>,
];

const BOB = as("bob");

const CREATIONS: readonly Way[] = [
  ["create", "create", 1, (app) => app.post("/plans", { name: "b" }, BOB)],
  ["create with hooks", "create", 1, (app) => app.post("/hooked", { name: "c" }, BOB)],
  ["many", "create", 2, (app) => app.post("/plans", [{ name: "d" }, { name: "e" }], BOB)],
  ["lines", "create", 1, sendLine],
];

const CHANGES: readonly Way[] = [
  ["update", "update", 1, (app, { plan }) => app.patch(plan, { name: "f", tags: ["x"] }, BOB)],
  ["one value", "update", 1, (app, { plan }) => app.patch(plan, { name: "f1" }, BOB)],
  ["update of nothing", "update", 1, (app, { plan }) => app.patch(plan, {}, BOB)],
  ["update with hooks", "update", 1, (app, { hooked }) => app.patch(hooked, { name: "g" }, BOB)],
  ["unset", "update", 1, (app, { plan }) => app.patch(plan, { notes: null }, BOB)],
  ["replace", "replace", 1, (app, { plan }) => app.put(plan, { name: "h" }, BOB)],
  ["updateAll", "updateAll", 2, (app, { both }) => app.patch(both, { state: "late" }, BOB)],
  ["action", "shout", 1, (app, { plan }) => app.post(`${plan}/shout`, {}, BOB)],
  ["revert", "revert", 1, (app, { plan }) => app.post(`${plan}/revert`, { version: 2 }, BOB)],
];

const PARTS: readonly Way[] = [
  ["part", "steps.create", 1, (app, { plan }) => app.post(`${plan}/steps`, { text: "s" }, BOB)],
  ["part changed", "steps.update", 1, (app, { step }) => app.patch(step, { text: "t" }, BOB)],
  [
    "parts changed",
    "steps.updateAll",
    1,
    (app, { plan }) => app.patch(`${plan}/steps?q={}`, { text: "u" }, BOB),
  ],
  ["part removed", "steps.remove", 1, (app, { step }) => app.delete(step, BOB)],
  ["only part", "last.create", 1, (app, { plan }) => app.post(`${plan}/last`, { text: "s" }, BOB)],
  [
    "only part changed",
    "last.update",
    1,
    (app, { plan }) => app.patch(`${plan}/last`, { text: "v" }, BOB),
  ],
  ["only part removed", "last.remove", 1, (app, { plan }) => app.delete(`${plan}/last`, BOB)],
  [
    "part that is apart",
    "apartSteps.create",
    1,
    (app, { plan }) => app.post(`${plan}/apartSteps`, { text: "w" }, BOB),
  ],
  [
    "reference",
    "remarks.create",
    1,
    (app, { plan }) => app.post(`${plan}/remarks`, { text: "r" }, BOB),
  ],
];

const REMOVALS: readonly Way[] = [
  ["remove", "remove", 1, (app, { plan }) => app.delete(plan, BOB)],
  ["remove with hooks", "remove", 1, (app, { other }) => app.delete(other, BOB)],
  ["removeAll", "removeAll", 5, (app) => app.delete("/plans", BOB)],
];

/** Every way to write a plan or a part of it. */
export const WAYS: readonly Way[] = [...CREATIONS, ...CHANGES, ...PARTS, ...REMOVALS];

async function sendLine({ url }: Mounted): Promise<Response> {
  const reply = await fetch(`${url}/plans`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "x-user": "bob" },
    body: '{"name":"l"}\n',
  });
  await reply.text();
  return reply;
}

/** Creates the two plans that the requests write. */
export async function createWritten(app: Mounted): Promise<Written> {
  const body = (name: string) => ({
    name,
    notes: { x: 1, deep: { n: [1] } },
    steps: [{ text: "old" }],
  });
  const first = await app.created("/plans", body("a"), as("ann"));
  const second = await app.created("/plans", body("b"), as("ann"));
  const [step] = second.steps as { readonly _id: string }[];
  const q = encodeURIComponent(JSON.stringify({ _id: { $in: [first._id, second._id] } }));
  return {
    plan: `/plans/${first._id}`,
    hooked: `/hooked/${first._id}`,
    other: `/hooked/${second._id}`,
    step: `/plans/${second._id}/steps/${step?._id}`,
    both: `/plans?q=${q}`,
  };
}
