import mongoose from "mongoose";
import type { PlainIndex } from "../../schema/mongoose/connections/plain_indexes.ts";
import type { Order } from "./read_rules.ts";
import { hasOnePlace } from "./seek_brackets.ts";
import { valueAt } from "./seek_values.ts";

const { MaxKey, MinKey } = mongoose.mongo;

export interface SeekPlace {
  readonly order: Order;
  /** What is stored of the entity: the keys of the order at least. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Options of a query that reads a part of an index, without a plan of the database. */
export interface ScanOptions {
  readonly hint: string;
  readonly min?: Readonly<Record<string, unknown>>;
  readonly max?: Readonly<Record<string, unknown>>;
}

/** An index in which the entities of a list stand in its order. */
export interface OrderedIndex {
  readonly index: PlainIndex;
  /** Its first keys, by which the entities of a list stand together. */
  readonly lead: readonly string[];
  readonly isForward: boolean;
}

/** Gives an index as it serves an order; `undefined` if it has the entities in another one. */
export function orderedIndex(index: PlainIndex, order: Order): OrderedIndex | undefined {
  const keys = Object.entries(index.keys);
  const wanted = Object.entries(order);
  const lead = keys.slice(0, Math.max(0, keys.length - wanted.length)).map(([path]) => path);
  const isForward = keys.at(-1)?.[1] === wanted.at(-1)?.[1];
  const isOrder = wanted.every(([path, direction], place) => {
    const [own, stored] = keys[lead.length + place] ?? [];
    return own === path && (stored === direction) === isForward;
  });
  return isOrder ? { index, lead, isForward } : undefined;
}

/**
 * Gives the part of an index that begins at an entity: all that `seek()` selects is in there.
 *
 * @param ordered The index.
 * @param place Where the entity stands.
 * @param fixed The values of the first keys.
 * @returns `undefined` if the entity may stand elsewhere in the index, as arrays do.
 */
export function scanFrom(
  { index: { name, keys }, lead, isForward }: OrderedIndex,
  { order, values, fixed }: SeekPlace & { readonly fixed: ReadonlyMap<string, unknown> },
): ScanOptions | undefined {
  const leading = lead.map((path) => [path, fixed.get(path)] as const);
  const place = Object.keys(order).map((path) => [path, valueAt(values, path)] as const);
  if (![...leading, ...place].every(([, value]) => hasOnePlace(value))) return undefined;
  const start = Object.fromEntries([...leading, ...place]);
  if (lead.length === 0) return { hint: name, ...isForward ? { min: start } : { max: start } };
  // The upper bound is not part of a scan: identifiers are no such keys.
  const ends = place.map(([path]) =>
    [path, isForward === (keys[path] === 1) ? new MaxKey() : new MinKey()] as const
  );
  const end = Object.fromEntries([...leading, ...ends]);
  return { hint: name, ...isForward ? { min: start, max: end } : { min: end, max: start } };
}
