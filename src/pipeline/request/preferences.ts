import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { readItems } from "./header_items.ts";
import type { LevelContext } from "./request_context.ts";
import type { Reply } from "./reply.ts";

/** Reads the header `Prefer`. If a preference is repeated, the first value counts (RFC 7240). */
export function preferencesOf(
  { headers: { prefer } }: FrameworkRequest,
): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  if (prefer === undefined) return given;
  for (const { name, value } of readItems([prefer].flat().join())) {
    if (!given.has(name)) given.set(name, value);
  }
  return given;
}

/**
 * Reads the preference `max-affected`, the most entities that a request may change. Throws a 400 if the value is no
 * number, because a request without this limit could change too many entities. Returns `undefined` if the client sends
 * no such preference.
 */
export function readMaxAffected(req: FrameworkRequest): number | undefined {
  const most = preferencesOf(req).get("max-affected");
  // A header without its last quote, or with ";" in the place of ",", hides the preference.
  if (most === undefined && !/max-affected/i.test(String(req.headers.prefer))) return undefined;
  if (most !== undefined && /^\d{1,15}$/.test(most)) return Number(most);
  throw badFormat(`The preference "max-affected" takes a whole number`);
}

/**
 * Whether the answer to a write of one entity, or to a creation of several entities, has no body, because the request
 * has the header `Prefer: return=minimal`.
 */
export function isMinimal({ route: { operation }, req }: LevelContext): boolean {
  if (operation.many || operation.change !== "merge" && operation.change !== "replace") {
    return false;
  }
  return preferencesOf(req).get("return")?.toLowerCase() === "minimal";
}

/**
 * Returns an answer without its body, for `Prefer: return=minimal`. The header `Preference-Applied` tells the client
 * why the body is missing.
 */
export function withoutBody({ text: _text, ...reply }: Reply): Reply {
  const headers = { ...reply.headers, "Preference-Applied": "return=minimal" };
  return { ...reply, status: reply.status === 201 ? 201 : 204, headers };
}
