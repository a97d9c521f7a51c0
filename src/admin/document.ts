import type { FilterPath } from "../describe/describe_filter.ts";
import type { FieldDescription } from "../describe/describe_object.ts";
import type { ParameterDescription } from "../describe/describe_route.ts";
import type { AdminLogin } from "./options.ts";

/**
 * The JSON document from which the admin page builds itself. It has only the routes and fields that its caller may use.
 */
export interface PageDocument {
  readonly title: string;
  readonly apiPath: string;
  readonly login?: AdminLogin;
  /** Whether a route answered 401 to the caller. The page may have more routes after a login. */
  readonly needsLogin: boolean;
  readonly models: readonly PageModel[];
}

/** The routes of one `@rest` of a class. */
export interface PageModel {
  /** The name of the model in addresses of the admin page, such as `tickets`. */
  readonly name: string;
  /** The name of the class. */
  readonly model: string;
  /** The path of the list, such as `/tickets`. */
  readonly path: string;
  readonly operations: Operations;
  /** The routes that the options `history` and `trash` of the class add. */
  readonly added: { readonly [N in "history" | "revert" | "restore"]?: PageRoute };
  readonly actions: readonly PageAction[];
  readonly parts: readonly PagePart[];
  readonly files: readonly PageFile[];
  /** Whether the caller may see the trash. */
  readonly hasTrash: boolean;
}

type OperationName =
  | "all"
  | "one"
  | "create"
  | "update"
  | "replace"
  | "remove"
  | "updateAll"
  | "removeAll";

export type Operations = { readonly [N in OperationName]?: PageRoute };

/** The description of a route, without the parts that the admin page does not use. */
export interface PageRoute {
  readonly summary?: string;
  /** The parameters of the query string. */
  readonly parameters: readonly ParameterDescription[];
  /** The preferences that the header `Prefer` may have. */
  readonly preferences: readonly string[];
  readonly filter?: readonly FilterPath[];
  readonly body?: readonly FieldDescription[];
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  readonly answer: readonly FieldDescription[];
  /** Whether the list has the format CSV. */
  readonly isCsv: boolean;
  readonly isLive: boolean;
  /** The field by which the path of `replace()` names an entity. Missing for other operations. */
  readonly by?: string;
}

export interface PageAction extends PageRoute {
  readonly name: string;
  readonly on: "one" | "all";
  readonly method: "GET" | "POST";
}

/** The routes of a property that holds a list and has its own `@rest`. */
export interface PagePart {
  /** The name in the path of the routes, which is the name of the property unless its `@rest` has another route. */
  readonly property: string;
  readonly operations: Operations;
  /** The files of each part. */
  readonly files: readonly PageFile[];
}

/** The routes of a property with a file. */
export interface PageFile {
  /** The name in the path of the routes, which is the name of the property unless its `@rest` has another route. */
  readonly property: string;
  /** The operations that the caller may use. */
  readonly operations: readonly ("one" | "replace" | "remove")[];
  /** The media types that a new file may have. Missing if it may have any type. */
  readonly accept?: readonly string[];
  /** The maximum number of bytes of a new file. */
  readonly maxBytes?: number;
}
