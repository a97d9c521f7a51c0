import type { Order } from "./read_rules.ts";

/** Completes an order: entities that are equal in all else are ordered by `_id`, which no two share. */
export function totalOrder<D>(order: Readonly<Record<string, D>>): Readonly<Record<string, D | 1>> {
  const keys = Object.keys(order);
  const last = keys.indexOf("_id");
  if (last === -1) return { ...order, _id: 1 };
  return Object.fromEntries(Object.entries(order).slice(0, last + 1));
}

/** Whether an order is one of values, so that a page can continue behind an entity. */
export function isOrderOfValues(order: Readonly<Record<string, unknown>>): order is Order {
  return Object.values(order).every((direction) => direction === 1 || direction === -1);
}
