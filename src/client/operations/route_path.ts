/** Removes slashes at the end of a URL or a path, because a path that begins with a slash is appended to it. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

/**
 * Returns the path of a route, which is appended to the URL of the server.
 *
 * @throws {TypeError} If the path does not begin with a slash.
 */
export function routePath(path: string): string {
  if (path.startsWith("/")) return trimmed(path);
  throw new TypeError(`Cannot open "${path}": the path must begin with a slash`);
}
