import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { readItems } from "./header_items.ts";
import type { LevelContext } from "./request_context.ts";
import type { Reply } from "./reply.ts";

/** If a preference is repeated, the first value is used (RFC 7240). */
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

/** A value that is no number is refused, because the request would otherwise run without the limit. */
export function readMaxAffected(req: FrameworkRequest): number | undefined {
  const most = preferencesOf(req).get("max-affected");
  // The parser does not find `max-affected` in a malformed header `Prefer`, and the request would change entities
  // without this limit. The search for the text finds it.
  if (most === undefined && !/max-affected/i.test(String(req.headers.prefer))) return undefined;
  if (most !== undefined && /^\d{1,15}$/.test(most)) return Number(most);
  throw badFormat(`The preference "max-affected" takes a whole number`);
}

/** Also false for a request that cannot have an answer without a body. */
export function isMinimal({ route: { operation }, req }: LevelContext): boolean {
  if (operation.many || operation.change !== "merge" && operation.change !== "replace") {
    return false;
  }
  return preferencesOf(req).get("return")?.toLowerCase() === "minimal";
}

/** `Preference-Applied` tells the client that the server has applied `return=minimal`. */
export function withoutBody({ text: _text, ...reply }: Reply): Reply {
  const headers = { ...reply.headers, "Preference-Applied": "return=minimal" };
  return { ...reply, status: reply.status === 201 ? 201 : 204, headers };
}
