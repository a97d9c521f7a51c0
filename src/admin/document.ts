import type { FilterPath } from "../describe/describe_filter.ts";
import type { FieldDescription, ValueDescription } from "../describe/describe_object.ts";
import type { ParameterDescription } from "../describe/describe_route.ts";
import type { AdminFormat, AdminLogin, AdminSession } from "./options.ts";

export interface PageDocument {
  readonly title: string;
  readonly apiPath: string;
  readonly login?: AdminLogin;
  readonly session?: AdminSession;
  readonly links?: Readonly<Record<string, string>>;
  /** A route has answered 401, so that the page may show more after a login. */
  readonly needsLogin: boolean;
  /** The name, or the identifier if no name is known. */
  readonly user?: string;
  readonly models: readonly PageModel[];
  /** Present if the router has the plugin `keys()` and the user is known. */
  readonly keys?: PageKeys;
}

export interface PageKeys {
  /** The identifier of the user. */
  readonly owner: string;
  readonly operations: readonly string[];
  /** The names of operations that the user may use. */
  readonly scopes: readonly string[];
}

/** A class with several `@rest` is shown as several models. */
export interface PageModel {
  readonly name: string;
  readonly model: string;
  /** Below `apiPath`. Paths of other routes begin with it. */
  readonly path: string;
  /** The word in the menu, different for each model. */
  readonly menu: string;
  readonly group?: string;
  /** An icon of Material Icons, which the page need not know. */
  readonly icon?: string;
  /** At most two fields. Empty if only the identifier is left. */
  readonly title: readonly string[];
  readonly list: readonly string[];
  readonly columns: readonly string[];
  readonly stamps: readonly string[];
  readonly operations: Operations;
  readonly added: { readonly [N in "history" | "revert" | "restore"]?: PageRoute };
  readonly actions: readonly PageAction[];
  readonly parts: readonly PagePart[];
  readonly files: readonly PageFile[];
  /** Whether the user may list removed entities. */
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

export interface PageValue extends Omit<ValueDescription, "items" | "fields"> {
  readonly shown?: AdminFormat;
  readonly items?: PageValue;
  readonly fields?: readonly PageField[];
}

export interface PageField extends PageValue, Omit<FieldDescription, keyof ValueDescription> {}

export interface PageRoute {
  readonly summary?: string;
  readonly parameters: readonly ParameterDescription[];
  readonly preferences: readonly string[];
  readonly filter?: readonly FilterPath[];
  readonly body?: readonly PageField[];
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  readonly answer: readonly PageField[];
  readonly isCsv: boolean;
  readonly isLive: boolean;
  readonly by?: string;
}

export interface PageAction extends PageRoute {
  readonly name: string;
  readonly on: "one" | "all";
  readonly method: "GET" | "POST";
  /** The action can run only while `Link` of `one()` names it. */
  readonly isConditional: boolean;
}

/** The property has a separate `@rest`. */
export interface PagePart {
  /** The segment of the path, which need not be the name of the property. */
  readonly property: string;
  readonly title: readonly string[];
  readonly operations: Operations;
  readonly files: readonly PageFile[];
  readonly parts: readonly PagePart[];
}

export interface PageFile {
  /** The segment of the path. */
  readonly property: string;
  /** `one` downloads the file, and `replace` uploads one. */
  readonly operations: readonly ("one" | "replace" | "remove")[];
  /** The media types for uploads. Missing if any is allowed. */
  readonly accept?: readonly string[];
  /** The page does not send a larger file. */
  readonly maxBytes?: number;
}
