/** Writes JSON. A `bigint` is a string of digits. */
export function toJson(value: object): string {
  return JSON.stringify(
    value,
    (_key, each: unknown) => typeof each === "bigint" ? String(each) : each,
  );
}
