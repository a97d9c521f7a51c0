import { NO_TRANSACTIONS } from "../database/in_transaction.ts";
import { getModel } from "../schema/get_model.ts";
import { isStandalone } from "../schema/mongoose/connections.ts";
import { cannotMount } from "./option_reader.ts";
import { actingLevel, type Route } from "./request/route.ts";

/**
 * Throws at start-up if a route writes all entities of a request or none, and its open connection leads to a server
 * without transactions. Every such request would fail.
 */
export function checkTransactions(route: Route): void {
  const { target, operation, hooks, link } = actingLevel(route);
  // A write of embedded entities writes only the document of their parent, so it needs no transaction. A `persist` hook
  // may write without a transaction. `getConnection` opens the connection of a request later.
  const isExempt = hooks.persist !== undefined || link?.embedded || route.getConnection;
  const [root] = route.levels;
  if (isExempt || root === undefined || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(target, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}
