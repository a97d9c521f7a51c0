// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { RouteOption } from "../declare/decorators/rest.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";

/**
 * An operation that assistants can call. `replace()`, `updateAll()`, `remove()` and `removeAll()` are never available
 * to them, but an action may do the same.
 */
export type ExposedOperation = "all" | "one" | "create" | "update";

/** A model for AI assistants. */
export interface Exposure extends RouteOption {
  /** The class, which must have routes on the router. */
  readonly model: ModelClass;
  /**
   * The operations for assistants, which the `@rest` has to declare.
   *
   * @default {["all", "one"]}
   */
  readonly operations?: readonly ExposedOperation[];
  /**
   * The actions for assistants. Routes of class options, such as `revert`, count as actions.
   *
   * @default {[]}
   */
  readonly actions?: readonly string[];
  /**
   * The name of the model for assistants, different for each model.
   *
   * @default {the name of the class}
   */
  readonly name?: string;
}

/**
 * Options of {@linkcode mcp}.
 *
 * @example Let a web page of another origin connect
 * ```ts
 * import { FrameworkModel } from "@mongrove/mongrove";
 * import type { McpOptions } from "@mongrove/mongrove/mcp";
 *
 * class Song extends FrameworkModel {}
 *
 * const options: McpOptions = {
 *   expose: [{ model: Song }],
 *   info: { name: "Songs", version: "1.0.0" },
 *   origins: ["https://assistant.example.org"],
 * };
 * ```
 */
export interface McpOptions {
  /**
   * The models with tools for assistants. Each call has the rights of its sender, and `populate` can show entities of
   * other models.
   */
  readonly expose: readonly Exposure[];
  /**
   * The name and the version of the server.
   *
   * @default {{ name: "mongrove", version: "1.0.0" }}
   */
  readonly info?: { readonly name: string; readonly version: string };
  /**
   * The accepted values of the header `Origin`: any web page could otherwise use the browser of a user. Another value
   * answers 403. A request without the header is accepted.
   *
   * @default {[]}
   */
  readonly origins?: readonly string[];
  /**
   * The accepted values of the header `Host`, besides the host of `authorization.resource`. Another value answers 403.
   * Without both options, every value is accepted.
   *
   * @default {[]}
   */
  readonly hosts?: readonly string[];
  /** The sign-in of assistants. Without it, middleware and hooks must check callers. */
  readonly authorization?: McpAuthorization;
}

/** The sign-in of assistants by OAuth. A request without a valid token is a 401. */
export interface McpAuthorization {
  /** The public URL of this endpoint, for which tokens are made. */
  readonly resource: string;
  /** The URLs of the servers that make tokens. */
  readonly servers: readonly string[];
  /**
   * The scopes that each token needs. If any is missing, the answer is 403.
   *
   * @default {[]}
   */
  readonly scopes?: readonly string[];
  /**
   * Returns the user, or `undefined` for an invalid token. An error is a 503, and so is an answer after five seconds.
   */
  readonly verify: (
    token: string,
    req: Request,
  ) => McpToken | undefined | Promise<McpToken | undefined>;
}

/** The user of a valid token. */
export interface McpToken {
  /** The `req.user` of hooks, which see neither the token nor cookies. */
  readonly user: unknown;
  /**
   * The URLs for which the token was issued. If `resource` is not among them, the answer is 401, because the token was
   * meant for another server. `false` skips this check.
   */
  readonly audience: string | readonly string[] | false;
  /** The scopes of the token. */
  readonly scopes?: readonly string[];
  /** The end of the token, which is a 401 from then on. */
  readonly expiresAt?: Date;
}
