import type { Schema } from "mongoose";
import type { RestRecord } from "../../declare/model/records.ts";
import type { HookName } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/model_class.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS, runsHook } from "../../declare/operations/operation.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import type { Route } from "../../pipeline/request/route.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { collectionName } from "../../schema/model_name.ts";

const HOOKS = new Set(["preFetch", "fetch", "postFetch", "preSave", "persist", "preSend"]);

/** Checks the route of a model, and takes a slash off its end. */
export function checkPath(target: ModelClass, route: unknown): string {
  if (typeof route !== "string" || !route.startsWith("/")) {
    throw new TypeError(`Cannot mount "${target.name}": route "${route}" does not start with "/"`);
  }
  const taken = /:(id|subId\d*)\b/.exec(route)?.[1];
  if (taken !== undefined) {
    throw new TypeError(
      `Cannot mount "${target.name}": route "${route}" uses the parameter "${taken}", which names an entity`,
    );
  }
  return route === "/" ? route : route.replace(/\/+$/, "");
}

/** Checks the path of a part below its parent: the property's name where none is given. */
export function checkPartPath(owner: ModelClass, property: string, route: unknown): string {
  if (route === undefined) return `/${property}`;
  if (typeof route !== "string" || !/^\/[^:*{]+$/.test(route)) {
    throw new TypeError(
      `Cannot mount "${owner.name}": route "${route}" of property "${property}" is no plain path that starts with "/"`,
    );
  }
  return route.replace(/\/+$/, "");
}

/** Checks that a part can have its operations: one object is no list, and an element needs a name. */
export function checkPartOperations(
  owner: ModelClass,
  { property, array, embedded }: PartLink,
  methods: readonly Method[],
  identified: boolean,
): void {
  for (const { operation } of methods) {
    const impossible = !array && OPERATIONS[operation].many
      ? "holds one entity"
      : array && embedded && !identified && operation !== "all"
      ? "holds entities without _id"
      : undefined;
    if (impossible !== undefined) {
      throw new TypeError(
        `Cannot mount "${owner.name}": property "${property}" ${impossible} and cannot have ${operation}()`,
      );
    }
  }
}

/** Checks the operations of an `@rest`, on a class or on a property of it. */
export function checkMethods(
  target: ModelClass,
  methods: readonly Method[],
  property?: string,
): void {
  const place = property === undefined ? "" : ` of property "${property}"`;
  if (!Array.isArray(methods) || methods.length === 0) {
    throw new TypeError(`Cannot mount "${target.name}": "methods"${place} is empty`);
  }
  for (const method of methods as (Method | undefined)[]) {
    if (method === undefined || !Object.hasOwn(OPERATIONS, method.operation)) {
      throw new TypeError(
        `Cannot mount "${target.name}": "methods"${place} holds what no operation function made`,
      );
    }
    const { lean, ...hooks } = method.hooks;
    if (lean === true && OPERATIONS[method.operation].verb !== "get") {
      throw new TypeError(
        `Cannot mount "${target.name}": ${method.operation}() writes documents and cannot be lean`,
      );
    }
    checkHooks(target, { operation: method.operation, hooks, place });
  }
}

/** Hooks as they stand in an operation. */
interface GivenHooks {
  readonly operation: OperationName;
  readonly hooks: object;
  /** What names the property in messages, if any. */
  readonly place: string;
}

function checkHooks(target: ModelClass, { operation, hooks, place }: GivenHooks): void {
  for (const [name, hook] of Object.entries(hooks)) {
    if (!HOOKS.has(name)) {
      throw new TypeError(
        `Cannot mount "${target.name}": ${operation}()${place} has no hook "${name}"`,
      );
    }
    if (hook === undefined) continue;
    if (typeof hook !== "function") {
      throw new TypeError(
        `Cannot mount "${target.name}": hook "${name}" of ${operation}()${place} is no function`,
      );
    }
    if (!runsHook(OPERATIONS[operation], name as HookName)) {
      throw new TypeError(
        `Cannot mount "${target.name}": ${operation}()${place} never runs its hook "${name}"`,
      );
    }
  }
}

/** Checks that what an `@rest` asks per request can be asked. */
export function checkFunctions(target: ModelClass, rest: RestRecord): void {
  for (const name of ["getConnection", "scope"] as const) {
    if (rest[name] !== undefined && typeof rest[name] !== "function") {
      throw new TypeError(`Cannot mount "${target.name}": "${name}" is no function`);
    }
  }
}

/** The cure where a class meets itself: a module that was evaluated again makes a second class. */
function twice(target: ModelClass, holder: ModelClass): string {
  if (target === holder || target.name !== holder.name) return "";
  return `; if its module was evaluated twice, as after vi.resetModules(), call initialize({ models: [${target.name}] })`;
}

/** What is taken already: paths with their verbs, and collections with the names of their classes. */
export class RouteRegister {
  readonly #paths = new Map<string, ModelClass>();
  readonly #collections = new Map<string, ModelClass>();

  /** Takes a path for an operation. Express tells no upper from lower case, and no parameter from another. */
  claimPath(target: ModelClass, { path, operation }: Route): void {
    const key = `${operation.verb} ${path.toLowerCase().replace(/:\w+/g, ":")}`;
    const holder = this.#paths.get(key);
    if (holder !== undefined) {
      throw new TypeError(
        `Cannot mount "${target.name}": ${operation.verb.toUpperCase()} ${path} is taken by "${holder.name}"${
          twice(target, holder)
        }`,
      );
    }
    this.#paths.set(key, target);
  }

  /** Takes a collection: two classes of one name may live side by side, not in one collection. */
  claimCollection(target: ModelClass, schema: Schema): void {
    const collection = collectionName(target, schema);
    const key = `${target.name} ${collection}`;
    const holder = this.#collections.get(key);
    if (holder !== undefined && holder !== target) {
      throw new TypeError(
        `Cannot mount "${target.name}": another class "${holder.name}" keeps its entities in collection "${collection}" too${
          twice(target, holder)
        }`,
      );
    }
    this.#collections.set(key, target);
  }
}
