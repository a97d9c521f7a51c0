import type { ModelClass } from "../declare/model/framework_model.ts";

/**
 * An operation that assistants can call as a tool. Removals and changes of many entities are never available to
 * assistants.
 */
export type ExposedOperation = "all" | "one" | "create" | "update";

/**
 * A model for AI assistants, with the operations and actions that they can call as tools of the Model Context Protocol.
 *
 * @example Let assistants read songs, add some, and play them
 * ```ts
 * import { FrameworkModel } from "@mongrove/mongrove";
 * import type { Exposure } from "@mongrove/mongrove/mcp";
 *
 * class Song extends FrameworkModel {}
 *
 * const songs: Exposure = { model: Song, operations: ["all", "one", "create"], actions: ["play"] };
 * ```
 */
export interface Exposure {
  /** The class of the exposed model. The router that `mcp()` gets must have routes of this class. */
  readonly model: ModelClass;
  /**
   * The operations that assistants can call. The `@rest` of the model has to declare these operations.
   *
   * @default {["all", "one"]}
   */
  readonly operations?: readonly ExposedOperation[];
  /**
   * The names of the actions that assistants can call, such as `play`. The routes that class options add, such as
   * `history`, `revert` and `restore`, count as actions.
   *
   * @default {[]}
   */
  readonly actions?: readonly string[];
  /**
   * The route of the `@rest` that assistants can use. A class with several `@rest` needs this option, because the tools
   * use the routes of one `@rest`.
   */
  readonly route?: string;
  /**
   * The name by which assistants choose the model in their calls. Each exposed model needs a different name.
   *
   * @default {the name of the class}
   */
  readonly name?: string;
}

/**
 * Options of {@linkcode mcp}, which serves models to AI assistants.
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
  /** The models that assistants can use. Assistants cannot reach models that are not in this list. */
  readonly expose: readonly Exposure[];
  /**
   * The name and the version of the server, which assistants get.
   *
   * @default {{ name: "mongrove", version: "1.0.0" }}
   */
  readonly info?: { readonly name: string; readonly version: string };
  /**
   * The accepted values of the header `Origin`, which browsers send. Without this check, any web page could make the
   * browser of a user send requests. A request without the header is accepted. A request with another value is answered
   * 403.
   *
   * @default {[]}
   */
  readonly origins?: readonly string[];
}
