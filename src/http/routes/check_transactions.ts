import { NO_TRANSACTIONS } from "../../database/in_transaction.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { getModel } from "../../schema/get_model.ts";
import { isStandalone } from "../../schema/mongoose/connections.ts";
import { cannotMount } from "./_check_rest.ts";

/**
 * Refuses a route that promises all or nothing where an open connection leads to a server without transactions. What a
 * parent embeds needs none, and hooks write as they like.
 *
 * @throws {TypeError} That names the option without which it starts.
 */
export function checkTransactions(route: Route): void {
  const { target, operation, writes, hooks, link } = actingLevel(route);
  const writesMany = writes?.many !== undefined || operation === "updateAll";
  if (!writesMany || !writes?.atomic || hooks.persist !== undefined || link?.embedded) return;
  const [root] = route.levels;
  if (root === undefined || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(target, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}
