/**
 * The new names of options that an earlier version called otherwise, by the old name, for the error about an unknown
 * option.
 */
const RENAMED: Readonly<Record<string, string>> = {
  concurrency: "ifMatch",
  least: "minCount",
  by: "caller",
  within: "timeoutMS",
  parameters: "strict",
  bodies: "strict",
  maxTimeMS: "limits.timeMS",
  sendTimeoutMS: "limits.sendMS",
  maxCascade: "limits.cascade",
  queryLimits: "limits.query",
  bodyLimits: "limits.body",
  live: "limits.live",
  key: "required",
};

/**
 * Returns the first key of an object that is no known option, for an error message. The key is in quotes, followed by
 * the option that the developer may have meant. Returns `undefined` if all keys are known options.
 */
export function unknownOption(given: object, known: object): string | undefined {
  const names = Object.keys(known);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  return unknown === undefined ? undefined : `"${unknown}"${meantBy(unknown, names)}`;
}

/**
 * Returns the words of an error message about the option that a developer may have meant by an unknown option. Returns
 * an empty text if no known option resembles the unknown option.
 */
export function meantBy(unknown: string, names: readonly string[]): string {
  const renamed = RENAMED[unknown];
  if (renamed !== undefined && names.includes(renamed.split(".", 1)[0] ?? "")) {
    return `, which is now "${renamed}"`;
  }
  const meant = names.find((name) => name.toLowerCase().startsWith(unknown.toLowerCase()));
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}
