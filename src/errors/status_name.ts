import { STATUS_CODES } from "node:http";

/**
 * Names a status in upper snake case, as error bodies carry it in `code`.
 *
 * @example 403
 * ```ts ignore
 * statusName(403); // "FORBIDDEN"
 * ```
 */
export function statusName(status: number): string {
  const words = statusText(status).replace(/[^A-Za-z0-9 -]/g, "");
  return words.toUpperCase().replace(/[ -]+/g, "_");
}

/** Gives the usual words for a status. */
export function statusText(status: number): string {
  return STATUS_CODES[status] ?? "Error";
}
