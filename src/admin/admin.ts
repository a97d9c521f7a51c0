// @ts-types="npm:@types/express@^5"
import type { Request, RequestHandler, Response } from "express";
import { mountedActorNames, mountedEndpoints, mountedRoutes } from "../host/initialize.ts";
import type { FrameworkRouter } from "../host/initialize.ts";
import { cannotServe } from "./_cannot_serve.ts";
import { checkAdminOptions } from "./_check_options.ts";
import { describeModels } from "./_describe_models.ts";
import type { PageDocument } from "./document.ts";
import { nameStamps } from "./_name_stamps.ts";
import { policyOf, writeHtml } from "./_html.ts";
import type { AdminOptions } from "./options.ts";
import { ENCODINGS, loadScript, MISSING, type PageScript } from "./_script.ts";
import { shownRoutes } from "./_shown_routes.ts";

/**
 * Creates middleware that serves an admin page for the models of a router.
 *
 * The page shows only the routes and fields that its reader may use. To find them, the `preFetch` hooks of every route
 * run when the page is loaded, with an identifier of zeros. Middleware that guards single paths of the API does not run
 * then, but when the page reads or writes.
 *
 * Mount it after the middleware that the API needs, such as `express.json()` and a login.
 *
 * @param api The router of `Framework.initialize()`.
 * @throws {TypeError} If `api` is no router of `Framework.initialize()`, or an option is wrong.
 */
export function admin(api: FrameworkRouter, options: AdminOptions): RequestHandler {
  const mounted = typeof api === "function" ? mountedRoutes(api) : undefined;
  if (mounted === undefined) {
    throw cannotServe("admin() takes the router of Framework.initialize()");
  }
  const routes = shownRoutes(mounted);
  checkAdminOptions(options, routes);
  const { title, apiPath = "..", login, session, see, models, links } = options;
  let script: PageScript | undefined;
  // The demo serves the page before its script is built, so a missing script is searched again.
  const findScript = async () => script ??= await loadScript();
  const sendHtml = async (req: Request, res: Response) => {
    const { name } = await findScript() ?? {};
    if (name === undefined) {
      return void res.status(404).set("Refresh", "5").type("text").send(MISSING);
    }
    // The URLs in the page are relative, so its path must end with a slash.
    const [path = ""] = req.originalUrl.split("?");
    if (!path.endsWith("/")) {
      return res.redirect(`./${path.slice(path.lastIndexOf("/") + 1)}/`);
    }
    secure(res).set({ "Cache-Control": "no-cache", "Content-Security-Policy": policyOf(session) });
    res.type("html").send(writeHtml(title, name));
  };
  const sendScript = async (req: Request, res: Response, next: () => void) => {
    const { name, bodies } = await findScript() ?? {};
    if (bodies === undefined || name !== req.path.slice(1)) return next();
    secure(res).vary("Accept-Encoding").set({
      "Cache-Control": "public, max-age=31536000, immutable",
    });
    const encoding = ENCODINGS.find((each) => req.acceptsEncodings(each)) ?? "identity";
    if (encoding !== "identity") res.set("Content-Encoding", encoding);
    res.type("js").send(bodies[encoding]);
  };
  const sendDocument = async (req: Request, res: Response) => {
    const document: PageDocument = {
      title,
      apiPath,
      ...login && { login },
      ...session && { session },
      ...links && { links },
      ...await describeModels(routes, { api, req, see, models, names: ask, endpoints }),
    };
    sendJson(res, document);
  };
  const ask = mountedActorNames(api);
  const endpoints = mountedEndpoints(api);
  const sendNames = async (req: Request, res: Response) =>
    sendJson(res, ask === undefined ? {} : await nameStamps(routes, { api, req, see, ask }));
  return (req, res, next) => {
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (isRead && req.path === "/") sendHtml(req, res).catch(next);
    else if (isRead && req.path === "/routes.json") sendDocument(req, res).catch(next);
    else if (isRead && req.path === "/names.json") sendNames(req, res).catch(next);
    else if (isRead && /^\/page-[\w-]+\.js$/.test(req.path)) sendScript(req, res, next).catch(next);
    else next();
  };
}

function sendJson(res: Response, value: object): void {
  secure(res).set("Cache-Control", "no-store").type("json").send(JSON.stringify(value));
}

function secure(res: Response): Response {
  return res.set({ "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff" });
}
