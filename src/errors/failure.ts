import type { Problems } from "./refusals.ts";

export type Failure =
  | { readonly kind: "missed" | "changed" | "occupied" | "outOfScope" }
  | { readonly kind: "largeEntity" | "largeFilter" | "largeTransaction" }
  | { readonly kind: "badFilter" | "severalDatabases" }
  | { readonly kind: "tooMany"; readonly limit: number }
  /** An answer must not name all of these fields, because some may be hidden from the client. */
  | { readonly kind: "duplicate"; readonly fields: readonly string[] }
  | { readonly kind: "invalid"; readonly problems: Problems }
  | { readonly kind: "byDistance"; readonly parameter: string }
  /** A repeated request may succeed. Only the reason "locked" guarantees that the write was not stored. */
  | {
    readonly kind: "away";
    readonly reason: "outage" | "late" | "locked" | "feeds";
    readonly pauseMS?: number;
  };

export class StoreFailure extends Error {
  override readonly name = "StoreFailure";

  constructor(readonly failure: Failure, cause?: unknown) {
    super(`The database operation failed: ${failure.kind}`, { cause });
  }
}

export function isFailure(error: unknown, ...kinds: readonly Failure["kind"][]): boolean {
  return error instanceof StoreFailure && kinds.includes(error.failure.kind);
}
