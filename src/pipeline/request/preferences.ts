import type { LevelCall } from "./call.ts";
import { badFormat } from "../../errors/refusals.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/** What the header `Prefer` asks of a write. */
export interface Preferences {
  /** Whether the answer needs no body. */
  readonly minimal: boolean;
  /** The most entities that the request may change. */
  readonly maxAffected?: number;
}

/** One preference: its name, and its value with or without quotes. Parameters of it are ignored. */
const PREFERENCE = /^\s*([^\s=;]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;"]*)))?\s*(?:;.*)?$/;

/**
 * Reads the header `Prefer`. Of a preference that comes again, the first one counts.
 *
 * @throws {RestError} 400 if `max-affected` is no whole number: to ignore it would change too much.
 */
export function readPreferences(req: FrameworkRequest): Preferences {
  const given = preferencesOf(req);
  const most = given.get("max-affected");
  const minimal = prefersMinimal(given);
  if (most === undefined) return { minimal };
  if (!/^\d{1,15}$/.test(most)) {
    throw badFormat(`The preference "max-affected" takes a whole number`);
  }
  return { minimal, maxAffected: Number(most) };
}

/** Whether a request that writes one entity, or creates several, is answered without a body. */
export function isMinimal({ route: { operation }, req }: LevelCall): boolean {
  const isKnown = (operation.change === "merge" || operation.change === "replace") &&
    !operation.many;
  return isKnown && prefersMinimal(preferencesOf(req));
}

function prefersMinimal(given: ReadonlyMap<string, string>): boolean {
  return given.get("return")?.toLowerCase() === "minimal";
}

function preferencesOf({ headers: { prefer } }: FrameworkRequest): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  if (prefer === undefined) return given;
  for (const part of [prefer].flat().join().split(",")) {
    const [, name = "", quoted, value = ""] = PREFERENCE.exec(part) ?? [];
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), quoted ?? value);
  }
  return given;
}
