import { isJsonObject } from "../../schema/fields/json.ts";

/** Options of the driver that keep the type, the digits and the flags of each value that `seek()` compares with. */
export const SEEK_READ = { promoteValues: false, bsonRegExp: true } as const;

/** What a stored entity has at the paths of an order: where it stands in that order. */
export type SortValues = Readonly<Record<string, unknown>>;

export function sortValues(stored: object, paths: readonly string[]): SortValues {
  return Object.fromEntries(paths.map((path) => [path, valueAt(stored, path)]));
}

/** Gives what is stored at a path; `null` where nothing is, and `undefined` for what BSON calls so. */
export function valueAt(stored: unknown, path: string): unknown {
  return valueBelow(stored, path.split("."));
}

function valueBelow(value: unknown, [name, ...names]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (Array.isArray(value) && value.length > 0) {
    // The database sorts by the first of all values that a list of objects has at a path.
    return value.flatMap((each) => {
      const inner = Array.isArray(each) ? null : valueBelow(each, [name, ...names]);
      return Array.isArray(inner) && inner.length === 0 ? [undefined] : inner;
    });
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return null;
  return valueBelow(value[name], names);
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
