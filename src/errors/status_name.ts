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
  const words = STATUS_CODES[status]?.replace(/[^A-Za-z0-9 -]/g, "") ?? "Error";
  return words.toUpperCase().replace(/[ -]+/g, "_");
}
