/**
 * Refuses to be called by Express with a request: the application has mounted the function itself, and no request would
 * ever be answered.
 *
 * @param name The name of the function.
 * @param given What it was called with.
 * @throws {TypeError} If that is a request.
 */
export function refuseRequest(name: string, given: unknown): void {
  if (typeof given !== "object" || given === null || !("httpVersion" in given)) return;
  throw new TypeError(`Cannot use Framework.${name}: call it, as in app.use(Framework.${name}())`);
}
