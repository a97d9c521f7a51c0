// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
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
}
