import { FarDate, isFarDate, valueAt } from "../filter/parameters/seek_values.ts";

type Values = Record<string, unknown>;

export interface WithFarDatesOptions {
  readonly paths: readonly string[];
  /** Reads the same entity again. */
  readonly read: (projection: Values) => Promise<Values | undefined>;
}

/** Puts the dates that JavaScript cannot hold in the values of an entity; they have to be read as numbers. */
export async function withFarDates(
  found: Values,
  { paths, read }: WithFarDatesOptions,
): Promise<Values | undefined> {
  const far = paths.filter((path) => isFarDate(valueAt(found, path)));
  if (far.length === 0) return found;
  const times = await read(
    Object.fromEntries(
      far.map((path) => [path, { $convert: { input: `$${path}`, to: "long", onError: null } }]),
    ),
  );
  if (times === undefined) return undefined;
  for (const path of far) put(found, { path, value: new FarDate(Number(valueAt(times, path))) });
  return found;
}

function put(values: Values, { path, value }: { path: string; value: unknown }): void {
  const names = path.split(".");
  const last = names.pop() as string;
  let at = values;
  for (const name of names) at = at[name] as Values;
  at[last] = value;
}
