/**
 * Matches a parameter in a path of Express, such as `:id`. Express also allows a name in quotes, such as `:"user-id"`.
 */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

/**
 * Returns a text that is equal for two paths that match the same requests, so that the second of two such routes can be
 * refused at start-up. Case is ignored, as in Express by default, and so are the names of parameters.
 */
export function pathKey(path: string): string {
  return path.replaceAll(PATH_PARAMETER, ":").toLowerCase();
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}

/**
 * The identifier that the admin page and the MCP tools put into a path such as `/movies/:id` to request the description
 * of the route. No entity has this identifier, and `preFetch` hooks get it.
 */
export const ANY_ID = "0".repeat(24);
