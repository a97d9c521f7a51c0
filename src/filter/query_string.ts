export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/** Returns the keys that give a parameter, also as `trash[a]`, by which some parsers read objects. */
export function parameterKeys(query: URLSearchParams, parameter: string): string[] {
  return [...query.keys()].filter((key) => key === parameter || key.startsWith(`${parameter}[`));
}
