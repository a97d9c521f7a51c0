import type { HookName } from "../hooks/hooks.ts";
import type { ReadOptions } from "../hooks/read_options.ts";
import type { HooksRun } from "./hooks_input.ts";

/** The names of the operations. */
export type OperationName =
  | "all"
  | "one"
  | "create"
  | "update"
  | "remove"
  | "removeAll"
  | "updateAll"
  | "replace";

/** One operation, as data. */
export interface Operation {
  /** The Express method that mounts it. */
  readonly verb: "get" | "post" | "put" | "patch" | "delete";
  /** Whether its path ends with the identifier of an entity. */
  readonly item: boolean;
  /** Whether it works on a list. */
  readonly many: boolean;
  readonly status: 200 | 201 | 204;
  /** Where its entities come from. */
  readonly origin: "list" | "byId" | "byKey" | "new";
  /** The change that it makes to them, if any. */
  readonly change?: "merge" | "replace" | "remove" | "act";
  readonly hooks: { readonly [N in HookName]?: true };
}

const READ_HOOKS: Record<HooksRun["all"], true> = {
  ...{ preFetch: true, fetch: true, postFetch: true, preSend: true },
};

const REMOVE_HOOKS: Record<HooksRun["remove"], true> = {
  ...{ preFetch: true, fetch: true, postFetch: true, preSave: true, persist: true },
};

const ALL_HOOKS: Record<HookName, true> = { ...READ_HOOKS, ...REMOVE_HOOKS };

export function isHookName(name: string): name is HookName {
  return Object.hasOwn(ALL_HOOKS, name);
}

const READ_OPTIONS: Record<keyof ReadOptions, true> = {
  ...{ page: true, sort: true, select: true, search: true, populate: true },
  ...{ count: true, live: true, formats: true, groups: true },
};

export function isReadOption(name: string): name is keyof ReadOptions {
  return Object.hasOwn(READ_OPTIONS, name);
}

const LIST = { item: false, many: true, origin: "list" } as const;
const ONE = { item: true, many: false, origin: "byId" } as const;
const NEW = { item: false, many: false, origin: "new" } as const;

export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  all: { ...LIST, verb: "get", status: 200, hooks: READ_HOOKS },
  one: { ...ONE, verb: "get", status: 200, hooks: READ_HOOKS },
  create: { ...NEW, verb: "post", status: 201, change: "merge", hooks: ALL_HOOKS },
  update: { ...ONE, verb: "patch", status: 200, change: "merge", hooks: ALL_HOOKS },
  remove: { ...ONE, verb: "delete", status: 204, change: "remove", hooks: REMOVE_HOOKS },
  removeAll: { ...LIST, verb: "delete", status: 204, change: "remove", hooks: REMOVE_HOOKS },
  updateAll: { ...LIST, verb: "patch", status: 200, change: "merge", hooks: REMOVE_HOOKS },
  replace: {
    ...{ ...ONE, origin: "byKey", verb: "put", status: 200, change: "replace", hooks: ALL_HOOKS },
  },
};

/** Whether an operation reads the parameter `q`. */
export function takesQ({ origin }: Operation): boolean {
  return origin === "list" || origin === "byId";
}

/** The rows of actions, by what they work on. Each one has its own verb. */
export const ACTIONS: Readonly<Record<"one" | "all", Operation>> = {
  one: {
    ...{ ...ONE, verb: "post", status: 200, change: "act" },
    hooks: { preFetch: true, fetch: true, postFetch: true },
  },
  all: { ...LIST, verb: "post", status: 200, change: "act", hooks: { preFetch: true } },
};

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

/** The words about an operation in the description of an API. */
export interface OperationWords {
  /** A summary of the operation, in a few words. */
  readonly summary?: string | undefined;
  /** A description of the operation, in CommonMark. */
  readonly description?: string | undefined;
  /** The groups of the operation in the description. The default is the name of the class. */
  readonly tags?: readonly string[] | undefined;
  /** Whether clients should stop using the operation. */
  readonly deprecated?: boolean | undefined;
  /**
   * An example: the body of a write or an action, or an entity in the answer of `all()` and `one()`, where it has
   * no field that is hidden or `select: false`. It holds values of JSON.
   */
  readonly example?: object | undefined;
  /** The name of the operation in generated clients, which no other operation may have, such as `allMovies`. */
  readonly operationId?: string | undefined;
}

const NAMES: Readonly<Record<keyof OperationWords, true>> = {
  ...{ summary: true, description: true, tags: true },
  ...{ deprecated: true, example: true, operationId: true },
};

export function isOperationWord(name: string): name is keyof OperationWords {
  return Object.hasOwn(NAMES, name);
}

/** Gives the options of an operation that describe it. */
export function wordsOf(options: object): OperationWords {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => isOperationWord(name) && value !== undefined),
  );
}
