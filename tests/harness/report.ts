/** The environment variable that names the file of the report. */
export const REPORT = "MONGROVE_REPORT";

/** The environment variable that is set with `--long`, and where a few test files are named. */
export const LONG = "MONGROVE_LONG";

/** Whether the long form of the tests is asked for. */
export const isLong: boolean = Deno.env.has(LONG);

/** Tells what was measured: the task prints it after the tests, whose output Deno shows for failures only. */
export async function report(line: string): Promise<void> {
  const path = Deno.env.get(REPORT);
  if (path) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}

/**
 * Tells how many cases a property test tries.
 *
 * @param all How many there are with `--long`.
 * @param quick How many otherwise.
 */
export function casesOf(all: number, quick: number = Math.ceil(all / 5)): number {
  return isLong ? all : quick;
}
