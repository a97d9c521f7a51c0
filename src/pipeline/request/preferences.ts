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
export function readPreferences({ headers: { prefer = [] } }: FrameworkRequest): Preferences {
  const given = new Map<string, string>();
  for (const part of [prefer].flat().join().split(",")) {
    const [, name = "", quoted, value = ""] = PREFERENCE.exec(part) ?? [];
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), quoted ?? value);
  }
  const minimal = given.get("return")?.toLowerCase() === "minimal";
  const most = given.get("max-affected");
  if (most === undefined) return { minimal };
  if (!/^\d{1,15}$/.test(most)) {
    throw badFormat(`The preference "max-affected" takes a whole number`);
  }
  return { minimal, maxAffected: Number(most) };
}
