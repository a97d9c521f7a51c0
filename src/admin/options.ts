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
  /** The label of the input, such as `API key`. */
  readonly label: string;
  /** A sentence below the input of the login, which explains its text to the user, such as `Your user name`. */
  readonly help?: string | undefined;
  /**
   * The text that the header has before the input, such as `Bearer `.
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
  /** The name of the application, which the page shows. */
  readonly title: string;
  /**
   * The path of the API as browsers see it. A relative path begins at the page, so the default fits a page at `/admin`
   * of an API that is mounted without a path. With an API at `/api`, use `"../api"`.
   *
   * @default {".."}
   */
  readonly apiPath?: string | undefined;
  /**
   * Returns whether the page shows a route to a caller. Only `true` shows the route. The page shows all routes by
   * default. The routes decide by themselves who may use them, so this function protects nothing.
   */
  readonly see?:
    | ((req: Request, route: RouteDescription) => boolean | Promise<boolean>)
    | undefined;
  /** The login of the page. Without this option, the page uses the cookies of the application. */
  readonly login?: AdminLogin | undefined;
}
