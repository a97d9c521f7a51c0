export const REPORT = "MONGROVE_REPORT";

/** Set with `--long`, and if a few test files are named. */
export const LONG = "MONGROVE_LONG";

export const isLong: boolean = Deno.env.has(LONG);

/** The task prints the lines after the tests, because Deno shows the output of failed tests only. */
export async function report(line: string): Promise<void> {
  const path = Deno.env.get(REPORT);
  if (path) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}

/** Returns `all` with `--long`. */
export function casesOf(all: number, quick: number = Math.ceil(all / 5)): number {
  return isLong ? all : quick;
}
