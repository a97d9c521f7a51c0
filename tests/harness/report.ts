export const REPORT = "MONGROVE_REPORT";

/** Set with `--long`, and if a few test files are named. It is `full` with `--long=full`. */
export const LONG = "MONGROVE_LONG";

export const isLong: boolean = Deno.env.has(LONG);

const isFull = Deno.env.get(LONG) === "full";

/** The task prints the lines after the tests, because Deno shows the output of failed tests only. */
export async function report(line: string): Promise<void> {
  const path = Deno.env.get(REPORT);
  if (path) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}

/** Returns `all` with `--long=full`, and a third of them with `--long`. */
export function casesOf(all: number, quick: number = Math.ceil(all / 5)): number {
  if (isFull) return all;
  return isLong ? Math.max(quick, Math.ceil(all / 3)) : quick;
}
