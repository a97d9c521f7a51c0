/** Express also allows a name in quotes, such as `:"user-id"`. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

/**
 * Two paths with the same key match the same requests. Case is ignored, as in Express by default, and so are the names
 * of parameters.
 */
export function pathKey(path: string): string {
  return path.replaceAll(PATH_PARAMETER, ":").toLowerCase();
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}

/** No entity has this identifier, and `preFetch` hooks get it if a program requests the description of a route. */
export const ANY_ID = "0".repeat(24);
