import { NO_TRANSACTIONS } from "../store/in_transaction.ts";
import { getModel } from "../schema/get_model.ts";
import { isStandalone } from "../schema/mongoose/connections.ts";
import { cannotMount } from "./option_reader.ts";
import { actingLevel, type Route } from "./request/route.ts";

export function checkTransactions(route: Route): void {
  const { operation, hooks, link } = actingLevel(route);
  // Embedded entities are in one document, and a `persist` hook writes by itself, so both need no transaction.
  if (hooks.persist !== undefined || link?.embedded) return;
  refuseStandalone(route, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}

export function refuseStandalone(route: Route, problem: string): void {
  const [root] = route.levels;
  // With `getConnection`, the server is not known at start-up.
  if (root === undefined || route.getConnection || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(actingLevel(route).target, problem);
}
