import mongoose from "mongoose";

/**
 * Reads an order that hooks gave, in any form that Mongoose takes: a text, an object, a `Map`, a list of pairs, or a list
 * of such forms.
 *
 * @returns The order as the database takes it; `undefined` where none is given.
 * @throws {TypeError} If it is no order.
 */
export function readSort(given: unknown): Record<string, unknown> | undefined {
  if (given === undefined || given === null) return undefined;
  const query = new mongoose.Query();
  for (const each of formsOf(given)) {
    query.sort((typeof each === "string" ? each.trim().replace(/\s+/g, " ") : each) as never);
  }
  const order = (query.getOptions().sort ?? {}) as Record<string, unknown>;
  // An empty text is a name without letters to Mongoose.
  delete order[""];
  return Object.keys(order).length === 0 ? undefined : order;
}

/** A query takes the items of a list one by one, except for pairs of a path and a direction. */
function formsOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) && !given.every(isPair) ? given : [given];
}

function isPair(item: unknown): boolean {
  return Array.isArray(item) && item.length === 2 && typeof item[0] === "string";
}
