import { createHash } from "node:crypto";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

const HEADER = "idempotency-key";

const MAX_LENGTH = 255;

export function hasKey({ headers }: FrameworkRequest): boolean {
  return headers[HEADER] !== undefined;
}

/** A string of a structured header. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** Reads the header `Idempotency-Key`, with or without quotes. */
export function readKey({ headers, headersDistinct }: FrameworkRequest): string | undefined {
  const given = headers[HEADER];
  if (given === undefined) return undefined;
  const text = String(given).trim();
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, "$1") : text;
  const isOnce = (headersDistinct[HEADER] ?? []).length < 2;
  if (isOnce && key && key.length <= MAX_LENGTH) return key;
  throw badFormat(`The header "Idempotency-Key" takes one key of 1 to ${MAX_LENGTH} characters`);
}

/** Gives a hash of a body that is the same for every order of its keys. */
export function hashBody(body: unknown): string {
  try {
    return hashOf(JSON.stringify(body, withSortedKeys) ?? "");
  } catch {
    // It is nested deeper than a body may be.
    return "";
  }
}

function withSortedKeys(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
