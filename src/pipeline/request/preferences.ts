import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { readItems } from "./header_items.ts";
import type { LevelContext } from "./request_context.ts";
import type { Reply } from "./reply.ts";

/**
 * Reads the preferences in the header `Prefer`, such as `return=minimal`, and returns their values by name. If a
 * preference is repeated, the first value is used (RFC 7240).
 */
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
 * Reads the preference `max-affected`, by which a client limits the number of entities that its request may change.
 * Throws a 400 if the value is no number, because the request would otherwise run without the limit. Returns
 * `undefined` if the client sends no such preference.
 */
export function readMaxAffected(req: FrameworkRequest): number | undefined {
  const most = preferencesOf(req).get("max-affected");
  // In a malformed header `Prefer`, such as a header with a missing quote, the parser does not find `max-affected`, and
  // the request would change entities without this limit. The search for the text finds the preference, so that the
  // request is refused.
  if (most === undefined && !/max-affected/i.test(String(req.headers.prefer))) return undefined;
  if (most !== undefined && /^\d{1,15}$/.test(most)) return Number(most);
  throw badFormat(`The preference "max-affected" takes a whole number`);
}

/**
 * Whether the client asks for an answer without a body by the header `Prefer: return=minimal`, and the request is a
 * write that can have such an answer.
 */
export function isMinimal({ route: { operation }, req }: LevelContext): boolean {
  if (operation.many || operation.change !== "merge" && operation.change !== "replace") {
    return false;
  }
  return preferencesOf(req).get("return")?.toLowerCase() === "minimal";
}

/**
 * Returns a reply without its body, for a client that sends `Prefer: return=minimal`. The header `Preference-Applied`
 * tells the client that the server has applied this preference.
 */
export function withoutBody({ text: _text, ...reply }: Reply): Reply {
  const headers = { ...reply.headers, "Preference-Applied": "return=minimal" };
  return { ...reply, status: reply.status === 201 ? 201 : 204, headers };
}
