/** The version of an entity; `null` if it has none. */
export type Version = number | null;

/** Versions are below 2 to this power. */
export const VERSION_BITS = 49;

/** Tells which version a stored value is: what is no whole number from 0 on, others have written, and it counts as none. */
export function asVersion(value: unknown): Version {
  const isVersion = typeof value === "number" && Number.isInteger(value) && value >= 0 &&
    value < 2 ** VERSION_BITS;
  return isVersion ? value : null;
}

/** The driver's numbers that the database counts in whole numbers. */
const NUMBERS: ReadonlySet<unknown> = new Set(["Double", "Int32", "Long"]);

/** The same for a value whose number the driver has kept in an object. */
export function asStoredVersion(value: unknown): Version {
  const { _bsontype: type } = (value ?? {}) as { _bsontype?: unknown };
  return asVersion(NUMBERS.has(type) || typeof value === "bigint" ? Number(value) : value);
}
