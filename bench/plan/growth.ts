import { SIZES } from "./collections.ts";
import { itemId } from "./items.ts";
import { read, READ_ONE, readList, type Scenario } from "./scenarios.ts";

/** Lists of every size. */
export const BY_DOCUMENTS: readonly Scenario[] = SIZES.map((size) => ({
  name: String(size),
  title: `list of ${size}`,
  connections: 2,
  traffic: readList(size),
}));

/** One entity over more and more connections. */
export const BY_CONNECTIONS: readonly Scenario[] = [1, 4, 16, 64, 256].map((connections) => ({
  name: String(connections),
  title: `one, ${connections} connections`,
  connections,
  traffic: READ_ONE,
}));

/** One entity, while Mongrove has this many models. */
export const BY_MODELS: readonly number[] = [1, 10, 50, 100, 200];

/** How many fields an entity has, besides its identifier and its version. */
export const FIELD_COUNTS = [5, 20, 80, 200] as const;

/** How many entities {@linkcode wideOf} has. */
export const WIDE_COUNT = 20;

/** Names the collection of entities with so many fields. */
export function wideOf(fields: number): string {
  return `wide${fields}`;
}

/** The types of the fields, in turn. */
export const WIDE_TYPES = [String, Number, Boolean, Date] as const;

/** Gives the names of the fields, each with its type. */
export function wideFields(count: number): [name: string, type: typeof WIDE_TYPES[number]][] {
  return Array.from({ length: count }, (_, place) => {
    return [`field${place}`, WIDE_TYPES[place % WIDE_TYPES.length] ?? String];
  });
}

/** Makes an entity with so many fields, besides its identifier and its version. */
export function wideBody(index: number, count: number): Record<string, unknown> {
  const values = wideFields(count).map(([name, type], place) => {
    if (type === String) return [name, `Text ${place} of ${itemId(index)}`];
    if (type === Date) return [name, new Date(Date.UTC(2024, 0, 1 + place, index))];
    return [name, type === Number ? index * 1_000 + place : place % 8 === 2];
  });
  return Object.fromEntries(values);
}

/** A list of entities with more and more fields. */
export const BY_FIELDS: readonly Scenario[] = FIELD_COUNTS.map((count) => ({
  name: String(count),
  title: `list of ${WIDE_COUNT}, ${count} fields`,
  connections: 4,
  traffic: read(`/${wideOf(count)}`),
  feature: "wide",
}));

/** What can be measured alone. */
export const GROWTH_PARTS: readonly string[] = [
  ...["documents", "fields", "connections", "depth", "models"],
];

/** The servers whose growth is measured unless others are named. */
export const GROWING: readonly string[] = ["mongrove", "express_hydrated"];
