import { createHash } from "node:crypto";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { LevelCall } from "./call.ts";

/** One preference: its name, and its value with or without quotes. Parameters of it are ignored. */
const PREFERENCE = /^\s*([^\s=;]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;"]*)))?\s*(?:;.*)?$/;

/** Reads the header `Prefer`. Of a preference that comes again, the first one counts. */
function preferencesOf({ headers: { prefer } }: FrameworkRequest): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  if (prefer === undefined) return given;
  for (const part of [prefer].flat().join().split(",")) {
    const [, name = "", quoted, value = ""] = PREFERENCE.exec(part) ?? [];
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), quoted ?? value);
  }
  return given;
}

/** Reads how many entities a request may change at most: to ignore a value that is no number would change too much. */
export function readMaxAffected(req: FrameworkRequest): number | undefined {
  const most = preferencesOf(req).get("max-affected");
  if (most === undefined) return undefined;
  if (/^\d{1,15}$/.test(most)) return Number(most);
  throw badFormat(`The preference "max-affected" takes a whole number`);
}

export function prefersCount(req: FrameworkRequest): boolean {
  return preferencesOf(req).get("count")?.toLowerCase() === "exact";
}

/** Whether a request that writes one entity, or creates several, is answered without a body. */
export function isMinimal({ route: { operation }, req }: LevelCall): boolean {
  if (operation.many || operation.change !== "merge" && operation.change !== "replace") {
    return false;
  }
  return preferencesOf(req).get("return")?.toLowerCase() === "minimal";
}

const KEY = "idempotency-key";

const MAX_KEY_LENGTH = 255;

const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

export function readKey({ headers, headersDistinct }: FrameworkRequest): string | undefined {
  const given = headers[KEY];
  if (given === undefined) return undefined;
  const text = String(given).trim();
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, "$1") : text;
  const isOnce = (headersDistinct[KEY] ?? []).length < 2;
  if (isOnce && key && key.length <= MAX_KEY_LENGTH) return key;
  throw badFormat(
    `The header "Idempotency-Key" takes one key of 1 to ${MAX_KEY_LENGTH} characters`,
  );
}

/** Gives a hash of a body that came with a key. It is the same for every order of the body's names. */
export function hashBody({ body, headers }: FrameworkRequest): string | undefined {
  if (headers[KEY] === undefined) return undefined;
  try {
    return hashOf(JSON.stringify(body, withSortedNames) ?? "");
  } catch {
    // It is nested deeper than a body may be.
    return "";
  }
}

function withSortedNames(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
