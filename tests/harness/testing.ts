import { isLong } from "./report.ts";

/** Set where one module imports many test files. */
export const GROUPED = "MONGROVE_GROUPED";

const isGrouped = Deno.env.has(GROUPED);

// Tests without a database need not load the driver.
if (Deno.env.has("MONGROVE_COMMANDS")) await import("./record_shapes.ts");

/**
 * Registers a test with the database or a server. Mongoose's pool and keep-alive connections outlive a test, so the
 * sanitizers are off. Steps work as in `Deno.test`.
 */
export function test(
  name: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  Deno.test({ name: labelOf(name), fn, sanitizeOps: false, sanitizeResources: false });
}

/** Registers a test that takes long. `deno task test` leaves it out, except with `--long` or if its file is named. */
export function longTest(
  name: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  const ignore = !isLong;
  Deno.test({ name: labelOf(name), fn, ignore, sanitizeOps: false, sanitizeResources: false });
}

/** Deno names the module that runs as the file of a test, which is the module of a group. */
function labelOf(name: string): string {
  const file = isGrouped ? /(\w+_test\.ts):\d/.exec(new Error().stack ?? "")?.[1] : undefined;
  return file === undefined ? name : `${file}: ${name}`;
}
