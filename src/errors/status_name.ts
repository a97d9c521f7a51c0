import { STATUS_CODES } from "node:http";

/** Names a status as the `code` of error bodies does: `FORBIDDEN` for 403. */
export function statusName(status: number): string {
  const words = statusText(status).replace(/[^A-Za-z0-9 -]/g, "");
  return words.toUpperCase().replace(/[ -]+/g, "_");
}

export function statusText(status: number): string {
  return STATUS_CODES[status] ?? "Error";
}
