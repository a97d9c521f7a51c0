import type { ModelClass } from "../declare/model/framework_model.ts";

/** An operation that assistants can get. Removals and changes of many entities are not among them. */
export type ExposedOperation = "all" | "one" | "create" | "update";

/**
 * The operations and actions of a model that assistants can use.
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
  /** The class. */
  readonly model: ModelClass;
  /**
   * The operations. The model's `@rest` has to have them.
   *
   * @default {["all", "one"]}
   */
  readonly operations?: readonly ExposedOperation[];
  /**
   * The names of actions.
   *
   * @default {[]}
   */
  readonly actions?: readonly string[];
  /** The route of the `@rest`, for a class with several. */
  readonly route?: string;
  /**
   * The name that assistants use.
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
  /** The models that assistants can use, and their operations. */
  readonly expose: readonly Exposure[];
  /**
   * The name and the version that the server tells.
   *
   * @default {{ name: "mongrove", version: "1.0.0" }}
   */
  readonly info?: { readonly name: string; readonly version: string };
  /**
   * The values of the header `Origin` that are let pass. Browsers send it, and any page could make one send requests.
   *
   * @default {[]}
   */
  readonly origins?: readonly string[];
}
