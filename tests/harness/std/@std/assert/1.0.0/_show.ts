/** Writes a value for a message. */
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

/** Writes the caller's own message behind ours. */
export function suffix(msg: string | undefined): string {
  return msg ? `: ${msg}` : ".";
}
