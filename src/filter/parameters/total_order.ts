import type { Shape } from "../../schema/fields/shape.ts";
import type { Order } from "./read_rules.ts";

/** Completes an order: entities that are equal in all else are ordered by `_id`, which no two share. */
export function totalOrder<D>(order: Readonly<Record<string, D>>): Readonly<Record<string, D | 1>> {
  const keys = Object.keys(order);
  const last = keys.indexOf("_id");
  if (last === -1) return { ...order, _id: 1 };
  return Object.fromEntries(Object.entries(order).slice(0, last + 1));
}

/** Whether an order is one of values, of which each entity has one, so that a page can continue behind an entity. */
export function isOrderOfValues(
  order: Readonly<Record<string, unknown>>,
  shape: Shape,
): order is Order {
  return Object.entries(order).every(([path, direction]) =>
    (direction === 1 || direction === -1) && !mayEnterList(path, shape)
  );
}

/** Whether a path may lead through an array, whose elements have a value each. Seeking knows arrays at the end of one. */
function mayEnterList(path: string, { fields }: Shape): boolean {
  const [name = "", ...names] = path.split(".");
  let field = fields.get(name);
  for (const inner of names) {
    if (field?.kind !== "object" && field?.kind !== "map") return true;
    field = field.kind === "map" ? field.element : field.shape?.fields.get(inner);
  }
  return false;
}
