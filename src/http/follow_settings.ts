// @ts-types="npm:@types/express@^5"
import express from "express";
// @ts-types="npm:@types/express@^5"
import type { Router, RouterOptions } from "express";

/**
 * Makes a router that compares paths as the application does, by its settings `case sensitive routing` and `strict
 * routing`: a path that a guard of the application lets pass as another one is another one here, too.
 *
 * @param addRoutes Adds the routes. Express fixes how paths are compared when a route is added, and the application is not
 * known before a request, so that it is called once for each combination of the settings that occurs.
 */
export function followSettings(addRoutes: (router: Router) => void): Router {
  const router = express.Router({ mergeParams: true });
  const routers = new Map<string, Router>();
  const open = (options: RouterOptions): Router => {
    const key = `${options.caseSensitive} ${options.strict}`;
    const known = routers.get(key);
    if (known !== undefined) return known;
    const opened = express.Router({ mergeParams: true, ...options });
    // What the host adds by `router.param()` is for these routes.
    Object.assign(opened, { params: Reflect.get(router, "params") });
    addRoutes(opened);
    routers.set(key, opened);
    return opened;
  };
  // A wrong path fails at start-up.
  open({ caseSensitive: false, strict: false });
  return router.use((req, res, next) => {
    const caseSensitive = req.app.enabled("case sensitive routing");
    open({ caseSensitive, strict: req.app.enabled("strict routing") })(req, res, next);
  });
}
