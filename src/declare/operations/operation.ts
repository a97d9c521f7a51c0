import type { HookName } from "../hooks/hooks.ts";
import type { HooksRun } from "./hooks_input.ts";

/**
 * @internal The names of the operations of the framework, such as `all`. An action has a name that the application
 * chooses.
 */
export type OperationName =
  | "all"
  | "one"
  | "create"
  | "update"
  | "remove"
  | "removeAll"
  | "updateAll"
  | "replace";

/**
 * The properties that all routes of an operation or action have in common, such as the HTTP method, the status of the
 * answer and the hooks that can run.
 */
export interface Operation {
  /** The HTTP method in lower case, which is the name of the Express method that adds the route to the router. */
  readonly verb: "get" | "post" | "put" | "patch" | "delete";
  /**
   * Whether the path of the route names one entity, as `/movies/:id` does. A write on any other route refuses the
   * header `If-Match`.
   */
  readonly item: boolean;
  /** Whether the operation reads or changes several entities, as `all()` and `updateAll()` do. */
  readonly many: boolean;
  readonly status: 200 | 201 | 204;
  /**
   * The origin of the entities, which a filter selects (`list`), the path names (`byId`, `byKey`) or the framework
   * creates (`new`).
   */
  readonly origin: "list" | "byId" | "byKey" | "new";
  /**
   * The change of the entities. `merge` sets the fields in the body, `replace` also clears the missing fields, `remove`
   * removes the entities, and `act` runs an action. Missing for a read.
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

/** Whether the URL parameter `q` limits the entities of an operation. Other operations do not read this parameter. */
export function takesQ({ origin }: Operation): boolean {
  return origin === "list" || origin === "byId";
}

/**
 * The properties of the routes of actions, such as the status of the answer, for an action on one entity and for an
 * action on all entities. The HTTP method is only a default, and `operationOf()` replaces it by the method that the
 * action declares.
 */
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

/**
 * @internal The options of an operation by which the OpenAPI document explains the operation to developers of clients,
 * such as `summary` and `tags`.
 */
export interface OperationWords {
  /** A summary of the operation for the OpenAPI document, in a few words. */
  readonly summary?: string | undefined;
  /** A description of the operation for the OpenAPI document, in CommonMark. */
  readonly description?: string | undefined;
  /**
   * The tags by which the OpenAPI document groups the operation with other operations. The default is the name of the
   * class.
   */
  readonly tags?: readonly string[] | undefined;
  /** Whether the OpenAPI document marks the operation as deprecated. */
  readonly deprecated?: boolean | undefined;
  /**
   * An example with values of JSON. The example of a write or an action is a body. The example of `all()` and `one()`
   * is an entity of the answer, in which a field that is `hidden` or `select: false` is an error at start-up.
   */
  readonly example?: object | undefined;
  /** The name of the operation in generated clients, such as `allMovies`. Two operations cannot have the same name. */
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

/** Returns the options of an operation that the OpenAPI document shows, such as `summary` and `tags`. */
export function wordsOf(options: object): OperationWords {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => isOperationWord(name) && value !== undefined),
  );
}
