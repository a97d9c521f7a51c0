/** The environment variable that is set with `--long`. */
export const LONG = "MONGROVE_TOOLS_LONG";

/** The environment variable that is set with `--picture`. */
export const PICTURE = "MONGROVE_TOOLS_PICTURE";

/** The environment variable that names the file of the report. */
export const REPORT = "MONGROVE_TOOLS_REPORT";

/** Tells what was measured: the task prints it after the tests, whose output Deno shows for failures only. */
export async function report(line: string): Promise<void> {
  const path = Deno.env.get(REPORT);
  if (path) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}

/** Whether the long form of the tests was asked for. */
export function isLong(): boolean {
  return Deno.env.has(LONG);
}

/** Whether the picture of the page was asked for. */
export function wantsPicture(): boolean {
  return Deno.env.has(PICTURE);
}
