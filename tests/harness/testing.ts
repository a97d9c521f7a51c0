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
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}
