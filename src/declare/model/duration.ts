/** @internal A time in seconds, minutes, hours or days, such as `"24h"`. */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;

/** @internal */
export interface KeepOption {
  /**
   * The time, such as `"90d"`, for which a record of the history, an entity in the trash or an idempotency key is
   * stored. Without it, records and trash are stored for ever.
   */
  readonly keep?: Duration;
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function durationMS(value: unknown): number | undefined {
  const [, digits, unit] = /^(\d+)([smhd])$/.exec(String(value)) ?? [];
  return Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS] || undefined;
}
