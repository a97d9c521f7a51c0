/** Returns a URL or a path without slashes at its end. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

/**
 * Returns the path of a route without slashes at its end.
 *
 * @throws {TypeError} If the path does not begin with a slash.
 */
export function routePath(path: string): string {
  if (path.startsWith("/")) return trimmed(path);
  throw new TypeError(`Cannot open "${path}": the path must begin with a slash`);
}
