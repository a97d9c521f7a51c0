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
  /** A route has answered 401. */
  readonly needsLogin: boolean;
  /** The name of the user, or else the identifier. */
  readonly user?: string;
  readonly models: readonly PageModel[];
  /** Missing without the plugin `keys()` or a known user. */
  readonly keys?: PageKeys;
}

export interface PageKeys {
  readonly owner: string;
  readonly operations: readonly string[];
  /** The operations that the user may use. */
  readonly scopes: readonly string[];
}

/** A class with several `@rest` is shown as several models. */
export interface PageModel {
  readonly name: string;
  readonly model: string;
  /** The path of the list below `apiPath`. Paths of other routes begin with it. */
  readonly path: string;
  /** The text in the menu, different for each model. */
  readonly menu: string;
  readonly group?: string;
  /** An icon of Material Icons, which the page may not know. */
  readonly icon?: string;
  /** The fields that name an entity, at most two, or else the identifier names it. */
  readonly title: readonly string[];
  readonly list: readonly string[];
  readonly columns: readonly string[];
  readonly stamps: readonly string[];
  readonly operations: Operations;
  readonly added: { readonly [N in "history" | "revert" | "restore"]?: PageRoute };
  readonly actions: readonly PageAction[];
  readonly parts: readonly PagePart[];
  readonly files: readonly PageFile[];
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
  /** The action can run only while the header `Link` of the entity names it. */
  readonly isConditional: boolean;
}

/** A property with a separate `@rest`. */
export interface PagePart {
  /** The path segment, which need not be the name of the property. */
  readonly property: string;
  readonly title: readonly string[];
  readonly stamps: readonly string[];
  readonly operations: Operations;
  readonly files: readonly PageFile[];
  readonly parts: readonly PagePart[];
}

export interface PageFile {
  readonly property: string;
  /** `one` downloads the file, and `replace` uploads one. */
  readonly operations: readonly ("one" | "replace" | "remove")[];
  /** The media types for uploads. Missing if any is allowed. */
  readonly accept?: readonly string[];
  readonly maxBytes?: number;
}
