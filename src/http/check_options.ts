/** Gives the first name that is no option, in quotes, with the option that it may stand for. */
export function unknownOption(given: object, known: object): string | undefined {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const meant = Object.keys(known).find((name) =>
    name.toLowerCase().startsWith(unknown.toLowerCase())
  );
  return `"${unknown}"${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
}

/**
 * Refuses to be called by Express with a request: the application has mounted the function itself, and no request would
 * ever be answered.
 */
export function refuseRequest(name: string, given: unknown): void {
  if (typeof given !== "object" || given === null || !("httpVersion" in given)) return;
  throw new TypeError(`Cannot use Framework.${name}: call it, as in app.use(Framework.${name}())`);
}
