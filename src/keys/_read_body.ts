import { RestError } from "../plugin/mod.ts";

type Body = Readonly<Record<string, unknown>>;

const DAY_MS = 24 * 3600_000;

const LASTS_MS = 90 * DAY_MS;

const OVERLAP_MAX_MS = 7 * DAY_MS;

export interface AskedKey {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

export function readNewKey(body: Body = {}): AskedKey {
  const { name, scopes, expiresAt, ...others } = body;
  refuseOthers(others);
  if (typeof name !== "string" || name.trim() === "" || name.length > 200) {
    throw new RestError(400, `"name" is a text of 1 to 200 characters`);
  }
  const isList = Array.isArray(scopes) && scopes.length > 0 && scopes.length <= 100 &&
    scopes.every((scope): scope is string => typeof scope === "string");
  if (!isList) throw new RestError(400, `"scopes" is a list of 1 to 100 scopes`);
  return { name, scopes: [...new Set(scopes)], expiresAt: readExpiry(expiresAt) };
}

function readExpiry(given: unknown): Date | null {
  if (given === null) return null;
  if (given === undefined) return new Date(Date.now() + LASTS_MS);
  const isDate = typeof given === "string" &&
    /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(given);
  const at = new Date(isDate ? given : NaN);
  // JavaScript would read 30 February as a day in March.
  const day = new Date(isDate ? given.slice(0, 10) : NaN);
  if (!(at.getTime() > Date.now()) || !day.toJSON().startsWith(String(given).slice(0, 10))) {
    throw new RestError(400, `"expiresAt" is a time in the future, or null`);
  }
  return at;
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3600_000, d: DAY_MS };

/** The time that the old key stays valid, in milliseconds. */
export function readOverlap(body: Body = {}): number {
  const { overlap = "0m", ...others } = body;
  refuseOthers(others);
  const [, count, unit = ""] =
    /^(\d{1,6})([mhd])$/.exec(typeof overlap === "string" ? overlap : "") ?? [];
  const ms = Number(count) * (UNITS_MS[unit] ?? NaN);
  if (ms <= OVERLAP_MAX_MS) return ms;
  throw new RestError(400, `"overlap" is a time such as "24h", of at most 7 days`);
}

function refuseOthers(others: Body): void {
  const [other] = Object.keys(others);
  if (other !== undefined) throw new RestError(400, `There is no field "${other}"`);
}
