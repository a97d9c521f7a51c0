import type { Filter } from "../filters.ts";
import { markCompiled } from "../q/compiled.ts";
import type { Order } from "./read_rules.ts";

/** Gives the condition of entities that stand behind another one in an order. */
export function seek(order: Order, values: Readonly<Record<string, unknown>>): Filter {
  const keys = Object.entries(order);
  return {
    $or: keys.map(([key, direction], index) => ({
      ...Object.fromEntries(
        keys.slice(0, index).map(([each]) => [each, markCompiled({ $eq: values[each] })]),
      ),
      [key]: markCompiled(direction === 1 ? { $gt: values[key] } : { $lt: values[key] }),
    })),
  };
}
