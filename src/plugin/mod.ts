/**
 * The interface of plugins, which extend a router: they admit requests, declare parameters, store values, run around
 * operations, and add routes and jobs.
 *
 * @example Tell clients of an operation that will end
 * ```ts
 * import type { Plugin } from "@mongrove/mongrove/plugin";
 *
 * export const closing: Plugin = {
 *   name: "closing",
 *   deprecated: ({ name }) => name === "tickets:action.close",
 *   async around(call, next) {
 *     if (call.name === "tickets:action.close") call.setHeader("Deprecation", "@1735689600");
 *     await next();
 *   },
 * };
 * ```
 *
 * @module
 */

export type {
  Admission,
  Plugin,
  PluginApi,
  PluginCall,
  PluginJob,
  PluginOperation,
  PluginParameter,
  PluginRequest,
  PluginRoute,
  PluginRouteRequest,
  PluginValues,
  PluginWrite,
} from "../declare/plugins/plugin.ts";
export type { Actor } from "../declare/hooks/framework_request.ts";
export type { MaybePromise } from "../declare/hooks/hooks.ts";
export { hideHeaders } from "../declare/plugins/hide_headers.ts";
export { RestError, type RestErrorOptions } from "../errors/rest_error.ts";
