/** Matches a parameter in a path of Express, such as `:id`. The name of a parameter may be in quotes. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

/**
 * Returns a key that is equal for paths that match the same requests, so that the second of two such routes can be
 * refused. Express ignores case by default, and the names of parameters make no difference.
 */
export function pathKey(path: string): string {
  return path.replaceAll(PATH_PARAMETER, ":").toLowerCase();
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}
