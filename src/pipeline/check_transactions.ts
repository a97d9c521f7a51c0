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
  // A write of embedded entities changes only one document and needs no transaction. A `persist` hook may write without
  // a transaction.
  if (hooks.persist !== undefined || link?.embedded) return;
  refuseStandalone(route, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}

/**
 * Throws an error with the given text at start-up, if the MongoDB of a route is a standalone server, which has no
 * transactions. The check is made only if the connection is open already.
 */
export function refuseStandalone(route: Route, problem: string): void {
  const [root] = route.levels;
  // With `getConnection`, each request chooses its connection, so nothing can be checked at start-up.
  if (root === undefined || route.getConnection || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(actingLevel(route).target, problem);
}
