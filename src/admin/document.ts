import type { FilterPath } from "../describe/describe_filter.ts";
import type { FieldDescription, ValueDescription } from "../describe/describe_object.ts";
import type { ParameterDescription } from "../describe/describe_route.ts";
import type { AdminFormat, AdminLogin, AdminSession } from "./options.ts";

/**
 * The JSON document from which the admin page builds itself. It has only the routes and fields that the user of the
 * page may use.
 */
export interface PageDocument {
  readonly title: string;
  readonly apiPath: string;
  readonly login?: AdminLogin;
  readonly session?: AdminSession;
  /** The paths of the links on the first page, by their texts. */
  readonly links?: Readonly<Record<string, string>>;
  /**
   * Whether a route has answered 401, because the user has not logged in. The admin page offers a login in this case,
   * after which it may show more routes.
   */
  readonly needsLogin: boolean;
  /** The name of the user, or the identifier if the application knows no name. */
  readonly user?: string;
  readonly models: readonly PageModel[];
}

/**
 * A model on the admin page, with the routes of one `@rest` of its class. A class with several `@rest` decorators is
 * shown as several models.
 */
export interface PageModel {
  /** The name of the model in addresses of the admin page, such as `tickets`. */
  readonly name: string;
  /** The name of the class, by which reference fields of other models refer to this model. */
  readonly model: string;
  /**
   * The path of the model's list below `apiPath`, such as `/tickets`. The paths of the model's other routes begin with
   * this path.
   */
  readonly path: string;
  /** The word for the model in the menu, which differs from the words of all others. */
  readonly menu: string;
  /** The heading of the menu below which the model stands. */
  readonly group?: string;
  /** The name of an icon of Material Icons, which the page need not know. */
  readonly icon?: string;
  /**
   * The fields by which readers recognise an entity: one, or two whose values stand side by side. Empty if only the
   * identifier is left.
   */
  readonly title: readonly string[];
  /** The columns of the list, in order, until the reader chooses others. */
  readonly list: readonly string[];
  /** The fields among which the reader can choose columns. */
  readonly columns: readonly string[];
  /** The fields with the sender of a write, whose name the page asks for. */
  readonly stamps: readonly string[];
  readonly operations: Operations;
  /** The routes that the options `history` and `trash` of the class add. */
  readonly added: { readonly [N in "history" | "revert" | "restore"]?: PageRoute };
  readonly actions: readonly PageAction[];
  readonly parts: readonly PagePart[];
  readonly files: readonly PageFile[];
  /** Whether the user of the admin page may list removed entities, which the class option `trash` keeps. */
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

/** The description of a value, with the form in which the page shows it. */
export interface PageValue extends Omit<ValueDescription, "items" | "fields"> {
  readonly shown?: AdminFormat;
  readonly items?: PageValue;
  readonly fields?: readonly PageField[];
}

/** The description of a field, with the form in which the page shows it. */
export interface PageField extends PageValue, Omit<FieldDescription, keyof ValueDescription> {}

/** The description of a route, with only the properties that the admin page uses. */
export interface PageRoute {
  readonly summary?: string;
  readonly parameters: readonly ParameterDescription[];
  /** The values that the route accepts in the header `Prefer`, such as `count=exact`. */
  readonly preferences: readonly string[];
  readonly filter?: readonly FilterPath[];
  readonly body?: readonly PageField[];
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  readonly answer: readonly PageField[];
  /** Whether the list can be downloaded as CSV, for which the admin page shows a button. */
  readonly isCsv: boolean;
  readonly isLive: boolean;
  /** The field by which the path of `replace()` names an entity. Missing for other operations. */
  readonly by?: string;
}

export interface PageAction extends PageRoute {
  readonly name: string;
  readonly on: "one" | "all";
  readonly method: "GET" | "POST";
  /** Whether the action can run on an entity only while the header `Link` of `one()` names it. */
  readonly isConditional: boolean;
}

/**
 * A list of parts that each entity of a model has, such as the comments of a ticket. The property of the list has a
 * separate `@rest`.
 */
export interface PagePart {
  /**
   * The segment that names the parts in the path of their routes, such as `comments` in `/tickets/:id/comments`. The
   * segment is the name of the property, unless its `@rest` has another route.
   */
  readonly property: string;
  /** The fields by which readers recognise a part, as in {@linkcode PageModel}. */
  readonly title: readonly string[];
  readonly operations: Operations;
  /** The files that each entity in the list of parts may have, such as the picture of a comment. */
  readonly files: readonly PageFile[];
  /** The parts of each part. */
  readonly parts: readonly PagePart[];
}

/**
 * A file that each entity may have, with the operations by which the admin page downloads, uploads and removes the
 * file.
 */
export interface PageFile {
  /**
   * The segment that names the file in the path of its routes, such as `photo` in `/tickets/:id/photo`. The segment is
   * the name of the property, unless its `@rest` has another route.
   */
  readonly property: string;
  /**
   * The operations on the file that the user of the admin page may perform. `one` downloads the file, `replace` uploads
   * a new file, and `remove` removes the file.
   */
  readonly operations: readonly ("one" | "replace" | "remove")[];
  /** The media types that an uploaded file may have. Missing if the file may have any type. */
  readonly accept?: readonly string[];
  /** The maximum number of bytes of an uploaded file. The admin page does not send a larger file. */
  readonly maxBytes?: number;
}
