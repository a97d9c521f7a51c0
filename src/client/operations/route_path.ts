export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

export function routePath(path: string): string {
  // Without a base URL, a path that begins with "//" would name another host.
  if (/^\/(?!\/)/.test(path)) return trimmed(path);
  throw new TypeError(`Cannot open "${path}": the path must begin with a slash`);
}
