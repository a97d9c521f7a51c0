import { FarDate, isFarDate, valueAt } from "../filter/parameters/sort_values.ts";

type Values = Record<string, unknown>;

export interface WithFarDatesOptions {
  readonly paths: readonly string[];
  /** Reads the same entity again. */
  readonly read: (projection: Values) => Promise<Values | undefined>;
}

/** Projects what paths lead through: of a list, a longer path would leave out what is no object. */
export function wholeRoots(paths: readonly string[]): Values {
  return Object.fromEntries(paths.map((path) => [path.split(".", 1).join(), 1]));
}

/** Puts the dates that JavaScript cannot hold in the values of an entity; they have to be read as numbers. */
export async function withFarDates(
  found: Values,
  { paths, read }: WithFarDatesOptions,
): Promise<Values | undefined> {
  const far = paths.filter((path) => isFarDate(valueAt(found, path)));
  if (far.length === 0) return found;
  const now = await read(Object.fromEntries(far.map((path) => [path, timeOrOther(`$${path}`)])));
  if (now === undefined) return undefined;
  for (const path of far) {
    const { time, ...other } = Object(valueAt(now, path)) as { time?: unknown; value?: unknown };
    put(found, { path, value: time === undefined ? other : { value: new FarDate(Number(time)) } });
  }
  return found;
}

/** Reads a date as a number; it may be something else by now. */
function timeOrOther(value: string): Values {
  const isDate = { $eq: [{ $type: value }, "date"] };
  return { $cond: [isDate, { time: { $toLong: value } }, { value }] };
}

/** Puts a value at a path, or nothing. */
function put(values: Values, { path, value }: { path: string; value: { value?: unknown } }): void {
  const names = path.split(".");
  const last = names.pop() as string;
  let at = values;
  for (const name of names) at = at[name] as Values;
  delete at[last];
  if ("value" in value) at[last] = value.value;
}
