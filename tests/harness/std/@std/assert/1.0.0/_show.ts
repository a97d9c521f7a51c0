export function show(value: unknown): string {
  return Deno.inspect(value, {
    depth: Infinity,
    sorted: true,
    trailingComma: true,
    compact: false,
    iterableLimit: Infinity,
    strAbbreviateSize: Infinity,
  });
}

export function suffix(msg: string | undefined): string {
  return msg ? `: ${msg}` : ".";
}
