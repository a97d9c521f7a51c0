/**
 * Returns the first key that is no option, for an error message. The key is in quotes, followed by the option that may
 * be meant. Returns `undefined` if all keys are options, so that the caller throws no error.
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
 * Throws if the options of a function such as `Framework.errors()` are a request of Express. In this case, the
 * application has mounted the function itself instead of its result, and no request would be answered.
 */
export function refuseRequest(name: string, given: unknown): void {
  if (typeof given !== "object" || given === null || !("httpVersion" in given)) return;
  throw new TypeError(`Cannot use Framework.${name}: call it, as in app.use(Framework.${name}())`);
}
