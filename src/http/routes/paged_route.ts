import { rightsOf } from "../../pipeline/request/reader_rights.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { compileReads } from "./_compile_reads.ts";

/**
 * Gives the route of a list pages, where it has none.
 *
 * @throws {TypeError} If its declaration leaves no room for pages: with its own `fetch`, or without `_id`.
 */
export function pagedRoute(route: Route, max: number): Route {
  const acting = actingLevel(route);
  if (acting.reads?.page !== undefined) return route;
  const { target, shape, link } = acting;
  const method = { operation: acting.operation, hooks: { ...acting.hooks, page: { max } } };
  const { schema } = buildSchema(target);
  const embedded = link?.embedded === true;
  const reads = compileReads(method, { target, schema, shape, embedded });
  const levels = [...route.levels.slice(0, -1), { ...acting, reads }];
  return { ...route, levels, rights: rightsOf(levels) };
}
