import { isLong } from "./report.ts";

/** The environment variable that is set where one module imports many test files. */
export const GROUPED = "MONGROVE_GROUPED";

const isGrouped = Deno.env.has(GROUPED);

// Tests without a database need not load the driver.
if (Deno.env.has("MONGROVE_COMMANDS")) await import("./record_shapes.ts");

/**
 * Registers a test that talks to the database or to a server.
 *
 * Mongoose's pool and keep-alive connections outlive a single test, so the
 * sanitizers of operations and resources are off, in Deno versions that have
 * them on by default too. Steps work as in `Deno.test`.
 *
 * @param name The name of the test.
 * @param fn The test.
 */
export function test(
  name: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  Deno.test({ name: labelOf(name), fn, sanitizeOps: false, sanitizeResources: false });
}

/**
 * Registers a test that takes long: time-outs, outages, many cases, members of a replica set, compilers, processes.
 * `deno task test` leaves it out, unless it is called with `--long` or the file is named.
 *
 * @param name The name of the test.
 * @param fn The test.
 */
export function longTest(
  name: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  const ignore = !isLong;
  Deno.test({ name: labelOf(name), fn, ignore, sanitizeOps: false, sanitizeResources: false });
}

/** Deno tells the file of a test by the module that it runs, which is that of a group. */
function labelOf(name: string): string {
  const file = isGrouped ? /(\w+_test\.ts):\d/.exec(new Error().stack ?? "")?.[1] : undefined;
  return file === undefined ? name : `${file}: ${name}`;
}
