/**
 * Throws if a function such as `Framework.errors()` gets a request of Express as its options. The application has then
 * mounted the function and not its result, and no request would be answered.
 */
export function refuseRequest(name: string, given: unknown): void {
  if (typeof given !== "object" || given === null || !("httpVersion" in given)) return;
  throw new TypeError(`Cannot use Framework.${name}: call it, as in app.use(Framework.${name}())`);
}
