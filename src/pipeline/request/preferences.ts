import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { badFormat } from "../../errors/refusals.ts";
import { readItems } from "../../filter/parameters/header_items.ts";
import type { LevelContext } from "./call.ts";
import type { Reply } from "./reply.ts";

/** Reads the header `Prefer`. Of a preference that comes again, the first one counts. */
function preferencesOf({ headers: { prefer } }: FrameworkRequest): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  if (prefer === undefined) return given;
  for (const { name, value } of readItems([prefer].flat().join())) {
    if (!given.has(name)) given.set(name, value);
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
export function isMinimal({ route: { operation }, req }: LevelContext): boolean {
  if (operation.many || operation.change !== "merge" && operation.change !== "replace") {
    return false;
  }
  return preferencesOf(req).get("return")?.toLowerCase() === "minimal";
}

/** Gives the answer of a request that wants to see nothing of what it wrote. */
export function withoutBody({ text: _text, ...reply }: Reply): Reply {
  const headers = { ...reply.headers, "Preference-Applied": "return=minimal" };
  return { ...reply, status: reply.status === 201 ? 201 : 204, headers };
}
