import type { FilterPath } from "../describe/describe_filter.ts";
import type { FieldDescription, ValueDescription } from "../describe/describe_object.ts";
import type { ParameterDescription } from "../describe/describe_route.ts";
import type { AdminFormat, AdminLogin, AdminSession } from "./options.ts";

/** The document has only the routes and fields that the user of the page may use. */
export interface PageDocument {
  readonly title: string;
  readonly apiPath: string;
  readonly login?: AdminLogin;
  readonly session?: AdminSession;
  /** The paths of the links on the first page, by their texts. */
  readonly links?: Readonly<Record<string, string>>;
  /** Whether a route has answered 401. After a login, the admin page may show more routes. */
  readonly needsLogin: boolean;
  /** The name of the user, or the identifier if the application knows no name. */
  readonly user?: string;
  readonly models: readonly PageModel[];
}

/** A class with several `@rest` decorators is shown as several models. */
export interface PageModel {
  /** The name in addresses of the admin page. */
  readonly name: string;
  /** The name of the class. */
  readonly model: string;
  /** The path of the list below `apiPath`. The paths of the other routes begin with this path. */
  readonly path: string;
  /** The word in the menu, which differs from the words of all other models. */
  readonly menu: string;
  /** The heading in the menu. */
  readonly group?: string;
  /** The name of an icon of Material Icons, which the page need not know. */
  readonly icon?: string;
  /** The fields by which readers recognise an entity, at most two. Empty if only the identifier is left. */
  readonly title: readonly string[];
  /** The columns of the list until the reader chooses others. */
  readonly list: readonly string[];
  /** The fields among which the reader can choose columns. */
  readonly columns: readonly string[];
  /** The fields with the sender of a write. */
  readonly stamps: readonly string[];
  readonly operations: Operations;
  readonly added: { readonly [N in "history" | "revert" | "restore"]?: PageRoute };
  readonly actions: readonly PageAction[];
  readonly parts: readonly PagePart[];
  readonly files: readonly PageFile[];
  /** Whether the user of the admin page may list removed entities. */
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
  /** The values that the route accepts in the header `Prefer`. */
  readonly preferences: readonly string[];
  readonly filter?: readonly FilterPath[];
  readonly body?: readonly PageField[];
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  readonly answer: readonly PageField[];
  readonly isCsv: boolean;
  readonly isLive: boolean;
  /** The field by which the path of `replace()` names an entity. */
  readonly by?: string;
}

export interface PageAction extends PageRoute {
  readonly name: string;
  readonly on: "one" | "all";
  readonly method: "GET" | "POST";
  /** Whether the action can run on an entity only while the header `Link` of `one()` names it. */
  readonly isConditional: boolean;
}

/** The property of the list has a separate `@rest`. */
export interface PagePart {
  /** The segment of the path, which is the name of the property unless its `@rest` has another route. */
  readonly property: string;
  readonly title: readonly string[];
  readonly operations: Operations;
  readonly files: readonly PageFile[];
  readonly parts: readonly PagePart[];
}

export interface PageFile {
  /** The segment of the path, which is the name of the property unless its `@rest` has another route. */
  readonly property: string;
  /** `one` downloads the file, and `replace` uploads a new file. */
  readonly operations: readonly ("one" | "replace" | "remove")[];
  /** The media types that an uploaded file may have. Missing if the file may have any type. */
  readonly accept?: readonly string[];
  /** The admin page does not send a larger file. */
  readonly maxBytes?: number;
}
