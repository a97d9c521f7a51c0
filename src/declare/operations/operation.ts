import type { HookName } from "../hooks/hooks.ts";

/** The names of the six operations. */
export type OperationName = "all" | "one" | "create" | "update" | "remove" | "removeAll";

/** One operation, as data: everything that tells it from the others. */
export interface Operation {
  /** The Express method that mounts it. */
  readonly verb: "get" | "post" | "patch" | "delete";
  /** Whether its path names one entity. */
  readonly item: boolean;
  /** Whether it works on a list. */
  readonly many: boolean;
  /** The status of success. */
  readonly status: 200 | 201 | 204;
  /** Where its entities come from. */
  readonly fetch: "list" | "byId" | "fresh";
  /** What it does to them, if anything. */
  readonly change?: "merge" | "erase";
}

/** Tells whether an operation runs a hook: those of a write belong to what changes, an answer's to what shows an entity. */
export function runsHook({ change }: Operation, hook: HookName): boolean {
  switch (hook) {
    case "preSave":
    case "persist":
      return change !== undefined;
    case "preSend":
      return change !== "erase";
    default:
      return true;
  }
}

/** The six operations. */
export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  all: { verb: "get", item: false, many: true, status: 200, fetch: "list" },
  one: { verb: "get", item: true, many: false, status: 200, fetch: "byId" },
  create: { verb: "post", item: false, many: false, status: 201, fetch: "fresh", change: "merge" },
  update: { verb: "patch", item: true, many: false, status: 200, fetch: "byId", change: "merge" },
  remove: { verb: "delete", item: true, many: false, status: 204, fetch: "byId", change: "erase" },
  removeAll: {
    verb: "delete",
    item: false,
    many: true,
    status: 204,
    fetch: "list",
    change: "erase",
  },
};
