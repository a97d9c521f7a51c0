import { badParameter } from "../errors/refusals.ts";
import type { Order } from "../filter/order.ts";
import type { ParameterFacts } from "./description.ts";

const MAX_SORT_KEYS = 8;

export function readKeys(text: string, allowed: readonly string[]): Order {
  const order: Record<string, 1 | -1> = {};
  const keys = text.split(",");
  if (keys.length > MAX_SORT_KEYS) throw badParameter("sort", `at most ${MAX_SORT_KEYS} fields`);
  for (const key of keys) {
    const path = key.replace(/^-/, "");
    if (!allowed.includes(path)) {
      throw badParameter("sort", `fields out of ${allowed.join(", ")}`);
    }
    if (Object.hasOwn(order, path)) throw badParameter("sort", "each field once");
    order[path] = key === path ? 1 : -1;
  }
  return order;
}

export function sortFacts(fields: readonly string[]): ParameterFacts {
  return {
    text: "The fields to sort by, each once. A `-` before a field sorts in descending order.",
    fields,
    values: fields.flatMap((field) => [field, `-${field}`]),
    schema: { maxItems: MAX_SORT_KEYS, uniqueItems: true },
  };
}
