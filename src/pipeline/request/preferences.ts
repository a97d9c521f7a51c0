import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { readItems } from "./header_items.ts";
import type { LevelContext } from "./request_context.ts";
import type { TextAnswer } from "./answer.ts";

/** The first of repeated preferences counts (RFC 7240). */
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

/** A `max-affected` that is no number is refused, or else the request would run without a limit. */
export function readMaxAffected(req: FrameworkRequest): number | undefined {
  const most = preferencesOf(req).get("max-affected");
  // The parser misses `max-affected` in a malformed header.
  if (most === undefined && !/max-affected/i.test(String(req.headers.prefer))) return undefined;
  if (most !== undefined && /^\d{1,15}$/.test(most)) return Number(most);
  throw badFormat(`The preference "max-affected" takes a whole number`);
}

/** Operations whose answer must have a body ignore `return=minimal`. */
export function isMinimal({ route: { operation }, req }: LevelContext): boolean {
  if (operation.many || operation.change !== "merge" && operation.change !== "replace") {
    return false;
  }
  return preferencesOf(req).get("return")?.toLowerCase() === "minimal";
}

export function withoutBody({ text: _text, ...answer }: TextAnswer): TextAnswer {
  const headers = { ...answer.headers, "Preference-Applied": "return=minimal" };
  return { ...answer, status: answer.status === 201 ? 201 : 204, headers };
}
