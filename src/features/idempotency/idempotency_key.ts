import { createHash } from "node:crypto";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

export const KEY_HEADER = "Idempotency-Key";

export const MAX_KEY_LENGTH = 255;

const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

export function readKey(
  given: GivenRequest,
  { isRequired }: { readonly isRequired: boolean },
): string | undefined {
  const text = given.header(KEY_HEADER)?.trim();
  if (text === undefined) {
    if (isRequired) throw badFormat(`The header "${KEY_HEADER}" is required`);
    return undefined;
  }
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, "$1") : text;
  if (!given.isRepeated(KEY_HEADER) && key && key.length <= MAX_KEY_LENGTH) return key;
  throw badFormat(`The header "${KEY_HEADER}" takes one key of 1 to ${MAX_KEY_LENGTH} characters`);
}

export function hashBody({ body, headers }: FrameworkRequest): string {
  if (headers[KEY_HEADER.toLowerCase()] === undefined) return "";
  try {
    return hashOf(JSON.stringify(body, withSortedNames) ?? "");
  } catch {
    // Any hash will do, because a too deeply nested body is refused later.
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
