import type { Problems } from "./refusals.ts";

/** Only `pipeline/failures.ts` knows the status of the answer. */
export type Failure =
  | { readonly kind: "missed" | "changed" | "occupied" | "outOfScope" }
  | { readonly kind: "largeEntity" | "largeFilter" | "largeTransaction" }
  | { readonly kind: "badFilter" | "severalDatabases" }
  | { readonly kind: "tooMany"; readonly limit: number }
  /** The reader may not know some of these fields. */
  | { readonly kind: "duplicate"; readonly fields: readonly string[] }
  | { readonly kind: "invalid"; readonly problems: Problems }
  | { readonly kind: "byDistance"; readonly parameter: string }
  /** A repetition may succeed. Unless `reason` is "locked", the write may have happened. */
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
