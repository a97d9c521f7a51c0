/**
 * Returns the first key of an object that is no known option, for an error message. The key is in quotes, followed by
 * the option that the developer may have meant. Returns `undefined` if all keys are known options.
 */
export function unknownOption(given: object, known: object): string | undefined {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const meant = Object.keys(known).find((name) =>
    name.toLowerCase().startsWith(unknown.toLowerCase())
  );
  return `"${unknown}"${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
}

/**
 * Throws if a function such as `Framework.errors()` gets a request of Express as its options. The application has then
 * mounted the function and not its result, and no request would be answered.
 */
export function refuseRequest(name: string, given: unknown): void {
  if (typeof given !== "object" || given === null || !("httpVersion" in given)) return;
  throw new TypeError(`Cannot use Framework.${name}: call it, as in app.use(Framework.${name}())`);
}
