/** The environment variable that names the file of the report. */
export const REPORT = "MONGROVE_FAULTS_REPORT";

/** Tells what was measured: the task prints it after the tests, whose output Deno shows for failures only. */
export async function report(line: string): Promise<void> {
  const path = Deno.env.get(REPORT);
  if (path) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}
