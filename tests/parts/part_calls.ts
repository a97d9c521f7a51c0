import type { Client, ErrorBody } from "../support/client.ts";

/** The six operations on a part, as requests: their methods, and whether they name one. */
export const CALLS = [
  ["GET", false],
  ["GET", true],
  ["POST", false],
  ["PATCH", true],
  ["DELETE", true],
  ["DELETE", false],
] as const;

/**
 * Makes a function that sends one of {@linkcode CALLS}.
 *
 * @param parts The client of a list of parts.
 * @param id The identifier of one of them.
 */
export function sender({ send }: Client, id: string) {
  return ([method, item]: typeof CALLS[number]) => {
    const body = method === "POST" || method === "PATCH" ? { body: { name: "new" } } : {};
    return send<ErrorBody>(method, item ? `/${id}` : "", body);
  };
}
