export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

export function routePath(path: string): string {
  if (path.startsWith("/")) return trimmed(path);
  throw new TypeError(`Cannot open "${path}": the path must begin with a slash`);
}
