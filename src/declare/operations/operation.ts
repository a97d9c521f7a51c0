import type { HookName } from "../hooks/hooks.ts";
import type { Words } from "../model/words.ts";
import type { HooksRun } from "./hooks_input.ts";

/** @internal */
export type OperationName =
  | "all"
  | "one"
  | "create"
  | "update"
  | "remove"
  | "removeAll"
  | "updateAll"
  | "replace";

export interface Operation {
  readonly verb: "get" | "post" | "put" | "patch" | "delete";
  /** Whether the path names one entity. A write on any other route refuses the header `If-Match`. */
  readonly item: boolean;
  readonly many: boolean;
  readonly status: 200 | 201 | 204;
  /**
   * Whether a filter selects the entities (`list`), the path names them (`byId`, `byKey`) or the framework creates them
   * (`new`).
   */
  readonly origin: "list" | "byId" | "byKey" | "new";
  /**
   * How a write changes the entity: `merge` sets the fields in the body, and `replace` also clears the missing fields.
   */
  readonly change?: "merge" | "replace" | "remove" | "act";
  readonly hooks: { readonly [N in HookName]?: true };
}

const READ_HOOKS: Record<HooksRun["all"], true> = {
  preFetch: true,
  fetch: true,
  postFetch: true,
  preSend: true,
};

const REMOVE_HOOKS: Record<HooksRun["remove"], true> = {
  preFetch: true,
  fetch: true,
  postFetch: true,
  preSave: true,
  persist: true,
};

const ALL_HOOKS: Record<HookName, true> = { ...READ_HOOKS, ...REMOVE_HOOKS };

export function isHookName(name: string): name is HookName {
  return Object.hasOwn(ALL_HOOKS, name);
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
    ...ONE,
    origin: "byKey",
    verb: "put",
    status: 200,
    change: "replace",
    hooks: ALL_HOOKS,
  },
};

export function takesQ({ origin }: Operation): boolean {
  return origin === "list" || origin === "byId";
}

/** `operationOf()` replaces `verb` by the method that the action declares. */
export const ACTIONS: Readonly<Record<"one" | "all", Operation>> = {
  one: {
    ...ONE,
    verb: "post",
    status: 200,
    change: "act",
    hooks: { preFetch: true, fetch: true, postFetch: true },
  },
  all: { ...LIST, verb: "post", status: 200, change: "act", hooks: { preFetch: true } },
};

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

/** @internal */
export interface OperationWords extends Words<object> {
  /** The tags by which the OpenAPI document groups operations. The default is the name of the class. */
  readonly tags?: readonly string[] | undefined;
  /** The name of the operation in generated clients, such as `allMovies`, which must be unique. */
  readonly operationId?: string | undefined;
}

const NAMES: Readonly<Record<keyof OperationWords, true>> = {
  summary: true,
  description: true,
  tags: true,
  deprecated: true,
  example: true,
  operationId: true,
};

export function isOperationWord(name: string): name is keyof OperationWords {
  return Object.hasOwn(NAMES, name);
}

export function operationWords(options: object): OperationWords {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => isOperationWord(name) && value !== undefined),
  );
}
