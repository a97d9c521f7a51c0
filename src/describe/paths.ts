/** Express also allows a parameter name in quotes, as in `:"name"`. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

/** Paths with the same key match the same requests. Case is ignored, as in Express by default. */
export function pathKey(path: string): string {
  return path.replaceAll(PATH_PARAMETER, ":").toLowerCase();
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}

/** No entity has this identifier. `preFetch` hooks get it when a description is requested. */
export const ANY_ID = "0".repeat(24);
