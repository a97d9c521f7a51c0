import { NO_TRANSACTIONS } from "../database/in_transaction.ts";
import { getModel } from "../schema/get_model.ts";
import { isStandalone } from "../schema/mongoose/connections.ts";
import { cannotMount } from "./option_reader.ts";
import { actingLevel, type Route } from "./request/route.ts";

/**
 * Throws at start-up if a route needs transactions and its database has none, because every such request would fail. A
 * route needs transactions if it writes several entities, either all or none. The check is made only if the connection
 * is open already.
 */
export function checkTransactions(route: Route): void {
  const { operation, hooks, link } = actingLevel(route);
  // Embedded entities are stored in one document, and a `persist` hook writes in the place of the framework, perhaps to
  // another database. Neither of these writes needs a transaction of the framework, so the route is accepted.
  if (hooks.persist !== undefined || link?.embedded) return;
  refuseStandalone(route, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}

/**
 * Throws an error with the given text at start-up, if the MongoDB of a route is a standalone server, which has no
 * transactions. The check is made only if the connection is open already.
 */
export function refuseStandalone(route: Route, problem: string): void {
  const [root] = route.levels;
  // With the option `getConnection`, each request chooses its connection. The server is not known at start-up, so the
  // route is accepted without the check.
  if (root === undefined || route.getConnection || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(actingLevel(route).target, problem);
}
