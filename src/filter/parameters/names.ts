import { badParameter } from "../../errors/refusals.ts";
import { LIST_LIMITS } from "./read_rules.ts";
import type { Order } from "./read_rules.ts";

/** Reads the names in the text of a parameter, each one once. Throws a 400 if one of them is not allowed. */
export function readNames(
  text: string,
  { parameter, allowed }: { readonly parameter: string; readonly allowed: readonly string[] },
): string[] {
  const names = text.split(",");
  if (names.every((name) => allowed.includes(name))) return [...new Set(names)];
  throw badParameter(parameter, `fields out of ${listed(allowed)}`);
}

/** Reads the parameter `sort`. Throws a 400 if it is no order, or names what is not allowed. */
export function readKeys(text: string, allowed: readonly string[]): Order {
  const order: Record<string, 1 | -1> = {};
  const keys = text.split(",");
  if (keys.length > LIST_LIMITS.keys) {
    throw badParameter("sort", `at most ${LIST_LIMITS.keys} fields`);
  }
  for (const key of keys) {
    const path = key.replace(/^-/, "");
    if (!allowed.includes(path)) throw badParameter("sort", `fields out of ${listed(allowed)}`);
    if (Object.hasOwn(order, path)) throw badParameter("sort", "each field once");
    order[path] = key === path ? 1 : -1;
  }
  return order;
}

export function listed(names: Iterable<string>): string {
  return [...names].join(", ");
}
