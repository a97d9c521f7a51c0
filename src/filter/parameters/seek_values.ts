import { isJsonObject } from "../../schema/fields/json.ts";

/** Options of the driver that keep the type, the digits and the flags of each value that `seek()` compares with. */
export const SEEK_READ = { promoteValues: false, bsonRegExp: true } as const;

/** Gives the value of a stored entity that decides where it stands in an order. */
export function valueAt(stored: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = stored;
  for (const key of path.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return null;
    value = value[key];
  }
  // What BSON calls undefined stands where an empty array stands.
  return value === undefined ? [] : value;
}

/**
 * A date that JavaScript cannot hold: other languages have later and earlier ones, and store the last of them for "never".
 * The driver writes it as it is stored, as far as a number is exact.
 */
export class FarDate extends Date {
  readonly #time: number;

  constructor(time: number) {
    super(NaN);
    this.#time = time;
  }

  override getTime(): number {
    return this.#time;
  }

  override valueOf(): number {
    return this.#time;
  }
}

/** Whether a stored value is a date that JavaScript cannot hold, read as it is or not. */
export function isFarDate(value: unknown): value is Date {
  return value instanceof Date && Number.isNaN(Date.prototype.getTime.call(value));
}
