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
  const { target, operation, hooks, link } = actingLevel(route);
  // A write of embedded entities changes only one document and needs no transaction. A `persist` hook may write without
  // a transaction. With `getConnection`, the connection is known only for a request.
  const isExempt = hooks.persist !== undefined || link?.embedded || route.getConnection;
  const [root] = route.levels;
  if (isExempt || root === undefined || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(target, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}
