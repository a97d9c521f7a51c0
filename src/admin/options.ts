// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { FieldNames } from "../declare/model/field_names.ts";
import type { RouteDescription } from "../describe/describe_route.ts";

/**
 * The login of an admin page. The page asks for a text, such as a token, and sends it in a header of each request. The
 * text is kept in the `sessionStorage` of the browser until its tab is closed.
 */
export interface AdminLogin {
  /** The name of the header, such as `authorization`. */
  readonly header: string;
  /** The label of the text field on the login form of the admin page, such as `API key`. */
  readonly label: string;
  /**
   * A sentence below the text field of the login form that explains the field to the user, such as `Your user name`.
   */
  readonly help?: string | undefined;
  /**
   * The text that the admin page puts before the entered text in the value of the header, such as `Bearer `.
   *
   * @default {""}
   */
  readonly prefix?: string | undefined;
}

/**
 * The pages where users of an application with a session cookie sign in and out, as paths of the same server. Relative
 * paths begin at the admin page.
 *
 * @example The sign-in of an application whose admin page is at `/admin`
 * ```ts
 * import type { AdminSession } from "@mongrove/mongrove/admin";
 *
 * const session: AdminSession = { signIn: "../sign-in", signOut: "../sign-out" };
 * ```
 */
export interface AdminSession {
  /** The path of the page where users sign in, to which the admin page links. */
  readonly signIn: string;
  /** The path that ends the session. The admin page sends a form to it by POST, and shows its answer. */
  readonly signOut: string;
}

/**
 * The form in which an admin page shows the numbers of a field. `"percent"` shows 0.25 as 25 %, `{ currency: "EUR" }`
 * shows an amount of money, and `"plain"` shows the digits alone, as for a year.
 */
export type AdminFormat = "percent" | "plain" | { readonly currency: string };

/**
 * The view of a class on an admin page. With `satisfies`, TypeScript checks the names of its fields.
 *
 * @typeParam M The class.
 *
 * @example The columns of a list
 * ```ts
 * import { all, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 * import type { AdminModel } from "@mongrove/mongrove/admin";
 *
 * @rest({ route: "/invoices", methods: [all({ page: { max: 50 } })] })
 * class Invoice extends FrameworkModel {
 *   @prop({ required: true })
 *   number!: string;
 *
 *   @prop({ type: Number, required: true })
 *   total!: number;
 * }
 *
 * const models = {
 *   Invoice: {
 *     list: ["number", "total"],
 *     format: { total: { currency: "EUR" } },
 *     group: "Office",
 *   } satisfies AdminModel<Invoice>,
 * };
 * ```
 */
export interface AdminModel<M = unknown> {
  /**
   * The fields that are the columns of the list, in order. Readers can choose others in their browser. By default, the
   * list has the title, the fields with `enum`, and the first of the other fields.
   */
  readonly list?: readonly AdminField<M>[] | undefined;
  /**
   * The text, number or date by which readers recognise an entity. By default, this is `name`,
   * `title`, `label`, `subject` or `number`, or else the first required text, or else the first two columns.
   */
  readonly title?: AdminField<M> | undefined;
  /**
   * The name of the list in the menu, such as `"Today"`. If several `@rest` of the class have lists, an object has the
   * name of each, by its path, such as `{ "/visits": "All visits", "/today": "Today" }`. By default, the name comes
   * from the path.
   */
  readonly menu?: string | Readonly<Record<string, string>> | undefined;
  /** The heading in the menu below which the list stands. */
  readonly group?: string | undefined;
  /** The name of an icon of Material Icons, such as `"event"`. */
  readonly icon?: string | undefined;
  /** The forms of numbers, by the path of their field, such as `total` or `lines.price`. */
  readonly format?:
    | { readonly [F in AdminField<M> | `${AdminField<M>}.${string}`]?: AdminFormat | undefined }
    | undefined;
}

/** @internal The names of the fields that the list of a class can show. */
export type AdminField<M> = FieldNames<"select", M> | "createdAt" | "updatedAt";

/**
 * Options of {@linkcode admin}.
 *
 * @example Ask for a token, and show no routes of one class
 * ```ts
 * import type { AdminOptions } from "@mongrove/mongrove/admin";
 *
 * const options: AdminOptions = {
 *   title: "Help desk",
 *   login: { header: "authorization", prefix: "Bearer ", label: "Token", help: "Your user name" },
 *   see: (_req, route) => route.model !== "Secret",
 * };
 * ```
 */
export interface AdminOptions {
  /** The name of the application, which the admin page shows as its title. */
  readonly title: string;
  /**
   * The path of the API as browsers see it. A relative path begins at the admin page, so the default fits a page at
   * `/admin` of an API that is mounted without a path. With an API at `/api`, use `"../api"`.
   *
   * @default {".."}
   */
  readonly apiPath?: string | undefined;
  /**
   * Returns whether the admin page shows a route to its user. Only `true` shows the route. Without this option, the
   * page shows all routes that the user may use. The routes decide by themselves who may use them, so a route that the
   * page does not show is still open to its users.
   */
  readonly see?:
    | ((req: Request, route: RouteDescription) => boolean | Promise<boolean>)
    | undefined;
  /**
   * The login of the admin page, which asks for a text such as a token and sends it in a header. Without this option,
   * the page relies on the cookies of the application.
   */
  readonly login?: AdminLogin | undefined;
  /**
   * The sign-in and sign-out of the application, for users with a session cookie. The admin page then offers "Sign out",
   * and "Sign in" if there is no session or it has ended.
   */
  readonly session?: AdminSession | undefined;
  /**
   * The views of classes, by the names of the classes: the columns of their lists, their words in the menu, and more.
   */
  readonly models?: Readonly<Record<string, AdminModel>> | undefined;
  /**
   * The links of the first page: paths of the same server by their texts, such as `{ "Documentation": "../docs" }`. A
   * relative path begins at the admin page.
   */
  readonly links?: Readonly<Record<string, string>> | undefined;
}
