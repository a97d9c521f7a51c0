// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { FieldNames } from "../declare/model/field_names.ts";
import type { RouteDescription } from "../describe/describe_route.ts";

/**
 * The login of an admin page: a text, such as a token, that the page sends in a header of each request. The
 * `sessionStorage` keeps it until the tab is closed.
 */
export interface AdminLogin {
  /** The name of the header, such as `authorization`. */
  readonly header: string;
  /** The label of the text field, such as `API key`. */
  readonly label: string;
  /** A sentence below the text field. */
  readonly help?: string | undefined;
  /**
   * A text before the entered text in the header, such as `Bearer `.
   *
   * @default {""}
   */
  readonly prefix?: string | undefined;
}

/**
 * The sign-in and sign-out of an application with a session cookie. Both are paths of the same server. Relative paths
 * begin at the admin page.
 */
export interface AdminSession {
  /** The path of the page where users sign in. */
  readonly signIn: string;
  /** The path that ends the session by a POST. */
  readonly signOut: string;
}

/** The format of a number. `"percent"` shows 0.25 as 25 %, and `"plain"` shows the digits alone, as for a year. */
export type AdminFormat = "percent" | "plain" | { readonly currency: string };

/**
 * The view of a class on an admin page. With `satisfies`, TypeScript checks the names of its fields.
 */
export interface AdminModel<M = unknown> {
  /**
   * The columns of the list, in order. By default, the title, the fields with `enum`, and the first of the other
   * fields.
   */
  readonly list?: readonly AdminField<M>[] | undefined;
  /**
   * The field that names an entity. By default, `name`, `title`, `label`, `subject` or `number`, or else the first
   * required text, or else the first two columns.
   */
  readonly title?: AdminField<M> | undefined;
  /**
   * The name of the list in the menu, by default from the path. Several lists of the class have names by path, such as
   * `{ "/today": "Today" }`.
   */
  readonly menu?: string | Readonly<Record<string, string>> | undefined;
  /** The heading in the menu. */
  readonly group?: string | undefined;
  /** A word for the icon, such as `"event"`, `"receipt"` or `"shipping"`. */
  readonly icon?: string | undefined;
  /** The formats of numbers by path, such as `lines.price`. */
  readonly format?:
    | { readonly [F in AdminField<M> | `${AdminField<M>}.${string}`]?: AdminFormat | undefined }
    | undefined;
}

/** @internal Fields that a list can show. */
export type AdminField<M> = FieldNames<"select", M> | "createdAt" | "updatedAt";

/** Options of {@linkcode admin}. */
export interface AdminOptions {
  /** The name of the application. */
  readonly title: string;
  /**
   * The path of the API for browsers. A relative path begins at the admin page, so the default fits a page at `/admin`
   * of an API at `/`. With an API at `/api`, use `"../api"`.
   *
   * @default {".."}
   */
  readonly apiPath?: string | undefined;
  /**
   * Returns whether the page shows a route. Only `true` shows it, and the default is all routes that the user may use.
   * This protects nothing: users can still send requests to a hidden route.
   */
  readonly see?:
    | ((req: Request, route: RouteDescription) => boolean | Promise<boolean>)
    | undefined;
  /** The login, whose header the guard and hooks of the API must check. Without it, the page relies on cookies. */
  readonly login?: AdminLogin | undefined;
  /** The sign-in and sign-out for users with a session cookie. */
  readonly session?: AdminSession | undefined;
  /** The views of classes, by their names. */
  readonly models?: Readonly<Record<string, AdminModel>> | undefined;
  /**
   * The links of the first page: paths of the same server by their texts, such as `{ "API": "../docs" }`. Relative
   * paths begin at the admin page.
   */
  readonly links?: Readonly<Record<string, string>> | undefined;
}
