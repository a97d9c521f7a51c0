import type { Filter } from "../filters.ts";
import type { Order } from "./read_rules.ts";
import { PLACE_OF_NULL } from "./seek_brackets.ts";
import { behind, every, level, notBefore, placesOf, some } from "./seek_key.ts";
import type { Key } from "./seek_key.ts";
import type { SortValues } from "./seek_values.ts";

/**
 * Gives the condition of entities that stand behind another one in an order, exactly as the database sorts.
 *
 * It has one alternative for each key, so that an index in that order is read from the entity on.
 *
 * @param order The order; it ends with `_id`.
 * @param values The values by which the other one stands where it does.
 */
export function seek(order: Order, values: SortValues): Filter {
  const keys = Object.entries(order);
  const ways: Filter[] = [];
  const tied: Filter[] = [];
  for (const [index, [path, direction]] of keys.entries()) {
    const key: Key = { path, isAscending: direction === 1 };
    const places = placesOf(values[path], key);
    ways.push(...places.map((place) => every([...tied, ...behind(place, key)])));
    if (path === "_id") break;
    tied.push(...level(places, key));
    const rest = keys.slice(index + 1);
    if (rest.length > 1 && places.some(({ bracket }) => bracket === PLACE_OF_NULL)) {
      ways.push(every([...tied, ...behindInOneScan(rest, values)]));
      break;
    }
  }
  return some(ways);
}

/**
 * Gives that condition without alternatives: entities of the same first value are read too, and left out.
 *
 * MongoDB 6.0 may read alternatives from a partial index that a cached plan has chosen for other values.
 */
export function seekInOneScan(order: Order, values: SortValues): Filter {
  const keys = Object.entries(order);
  return keys.length === 1 ? seek(order, values) : every(behindInOneScan(keys, values));
}

/**
 * Does so without alternatives. The database merges alternatives by values, where a missing one is before `null`, and
 * not equal to it as in an index: entities that are tied by `null` would be merged in a wrong order.
 */
function behindInOneScan(
  keys: readonly [string, 1 | -1][],
  values: SortValues,
): Filter[] {
  const [[path, direction] = ["_id", 1], ...rest] = keys;
  const key: Key = { path, isAscending: direction === 1 };
  const places = placesOf(values[path], key);
  const isBehind = seek(Object.fromEntries(rest), values);
  const notLater = { $nor: [every([...level(places, key), { $nor: [isBehind] }])] };
  return [...notBefore(places, key), notLater];
}
