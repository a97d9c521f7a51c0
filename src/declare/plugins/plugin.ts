import type { Connection } from "mongoose";
import type { Actor, GuardRequest } from "../hooks/framework_request.ts";
import type { MaybePromise } from "../hooks/hooks.ts";

/**
 * An extension of a router, for the option `plugins` of `Framework.initialize()`.
 *
 * Like hooks, a plugin sees and changes requests, so use only plugins that you trust. The interface is experimental
 * until version 1.0.
 *
 * @example Name the server in each answer
 * ```ts
 * import type { Plugin } from "@mongrove/mongrove/plugin";
 *
 * export const served: Plugin = {
 *   name: "served",
 *   async around(call, next) {
 *     call.setHeader("X-Served-By", "desk-1");
 *     await next();
 *   },
 * };
 * ```
 */
export interface Plugin {
  /** The name of the plugin, which is unique in its router. */
  readonly name: string;
  /** Runs when a router is mounted, and may throw a `TypeError` for a wrong option. */
  readonly start?: (api: PluginApi) => void;
  /**
   * Runs once for each HTTP request of a client, before the `guard` and all hooks, even if the request is a batch or
   * calls several tools of `mcp()`. It may throw a `RestError`, and set properties of the request.
   */
  readonly admit?: (req: PluginRequest) => MaybePromise<Admission | undefined>;
  /** Parameters in the URL, by their names. */
  readonly parameters?: Readonly<Record<string, PluginParameter>>;
  /** Values to store with each write. */
  readonly values?: PluginValues;
  /**
   * Runs after the guard and all `preFetch` hooks, and before any entity is read. It throws a `RestError`, or calls
   * `next()` once, which does the work of the request. An error after that undoes no write.
   */
  readonly around?: (call: PluginCall, next: () => Promise<void>) => Promise<void>;
  /** Whether the OpenAPI document marks an operation as deprecated. */
  readonly deprecated?: (operation: PluginOperation) => boolean;
  /** Routes without a model. */
  readonly routes?: readonly PluginRoute[];
  /** Work that runs about every ten minutes in one process, and by `Framework.tidy()`. */
  readonly jobs?: readonly PluginJob[];
  /** More `securitySchemes` of the OpenAPI document. */
  readonly securitySchemes?: Readonly<Record<string, object>>;
}

/** The operations of a router. */
export interface PluginApi {
  /** The operations of the models. */
  readonly operations: readonly PluginOperation[];
  /** All names that can be in `needs` of a {@linkcode PluginCall}, so that a plugin can check names in its options. */
  readonly names: readonly string[];
  /** Logs the error of work for which no request waits. */
  log(error: unknown): void;
}

/** An operation of a router. */
export interface PluginOperation {
  /**
   * The path without parameters and the operation, such as `tickets/notes:create`. An action is `tickets:action.close`.
   */
  readonly name: string;
  /** The class of the entities, or the name of the plugin that has the route. */
  readonly model: string;
  /** The name of the operation or action. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path in the router, with the names of its parameters. */
  readonly path: string;
}

/**
 * The request of Express. Its URL and body are left out, because in `admit` they may belong to a batch instead of an
 * operation.
 */
export type PluginRequest = Omit<GuardRequest, "url" | "originalUrl" | "query" | "body">;

/** The result of `admit`. */
export interface Admission {
  /** How the sender was admitted, such as `key:…`, in at most 200 characters, for the history and traces. */
  readonly via?: string;
  /** Whether the plugin has signed the sender in, so that `mcp()` asks for no other token. */
  readonly signsIn?: boolean;
  /** Runs each time that a live list or an upload checks its rights again, and throws if the admission has ended. */
  readonly renew?: () => MaybePromise<void>;
}

/** A parameter in the URL of all operations. */
export interface PluginParameter {
  /** The effect of the parameter, for the OpenAPI document and `describe()`. */
  readonly description: string;
  /** A JSON Schema. The default is a string. */
  readonly schema?: object;
}

/** Values that each write stores. */
export interface PluginValues {
  /** The fields. Only classes that declare one of them get values. */
  readonly fields: readonly string[];
  /** Returns values by the names of fields. `undefined` clears a field, and a missing name keeps its value. */
  readonly of: (write: PluginWrite) => Readonly<Record<string, unknown>>;
}

/** A write that stores values of a plugin. */
export interface PluginWrite {
  /** The class of the entity. */
  readonly model: string;
  /** Whether the entity is created. */
  readonly isNew: boolean;
  /** The sender, by the option `actor`. */
  readonly actor?: Actor;
  /** How the sender was admitted: the `via` that `admit` returned. */
  readonly via?: string;
}

/** A request for which `around` runs. */
export interface PluginCall extends PluginOperation {
  /** The request. */
  readonly req: PluginRequest;
  /** The names of all operations that the request uses, such as `one` of a parent or of a populated class. */
  readonly needs: readonly string[];
  /** Why `around` runs: for an answer, for a description, or because a running request checks its rights again. */
  readonly purpose: "answer" | "description" | "renewal";
  /** The sender, by the option `actor`. */
  readonly actor?: Actor;
  /** The tenant, by the option `tenant`. */
  readonly tenant?: Actor;
  /** How the sender was admitted: the `via` that `admit` returned. */
  readonly via?: string;
  /** Returns the value of a parameter of this plugin. */
  parameter(name: string): string | undefined;
  /** Sets a header of the answer, also of an error. */
  setHeader(name: string, value: string): void;
}

/** A route without a model. The `guard` of the router runs before it. */
export interface PluginRoute {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path in the router, which may have parameters. */
  readonly path: string;
  /** The name of the operation, which is unique in the plugin. */
  readonly operation: string;
  /** The summary in descriptions. */
  readonly summary: string;
  /** The JSON Schema of the body. Without it, a body is ignored. */
  readonly body?: object;
  /** The JSON Schema of the answer. Without it, the answer has no body. */
  readonly answer?: object;
  /** The HTTP status of success. */
  readonly status?: 200 | 201 | 204;
  /** Whether the route needs no guard. */
  readonly open?: boolean;
  /** Answers a request. */
  readonly run: (request: PluginRouteRequest) => MaybePromise<unknown>;
}

/** A request to a route of a plugin. */
export interface PluginRouteRequest {
  /** The request. */
  readonly req: PluginRequest;
  /** The parameters in the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The JSON object in the body, which is not checked against the schema. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The sender, by the option `actor`. */
  readonly actor?: Actor;
  /** The tenant, by the option `tenant`. */
  readonly tenant?: Actor;
  /** Sets a header of the answer. */
  setHeader(name: string, value: string): void;
}

/** Work that runs without a request. */
export interface PluginJob {
  /** The name in errors and in the result of `Framework.tidy()`. */
  readonly name: string;
  /**
   * The connection whose database holds a lease, so that one process at a time runs the job. The default is
   * `mongoose.connection`.
   */
  readonly connection?: Connection;
  /** Does the work, and returns how many entities it has removed. */
  readonly run: (at: Date) => Promise<number>;
}
