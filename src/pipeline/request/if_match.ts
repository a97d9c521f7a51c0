import { createHash } from "node:crypto";
import type { Version } from "../../schema/fields/version.ts";

/** The versions of an entity that a request accepts: any, or those of its tags; `null` is that of an entity without one. */
export type IfMatch = "any" | readonly Version[];

/** A tag: the version, and what tells answers of one version apart. A proxy that compresses answers may have weakened it. */
const TAG = /(?:W\/)?"(?:(\d{1,15})|none)(?:\.[\w-]*)?"/g;

/** Reads the header `If-Match`; `undefined` where there is none. A tag that no answer has matches nothing. */
export function readIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  return [...header.matchAll(TAG)].map(([, digits]) =>
    digits === undefined ? null : Number(digits)
  );
}

/** Whether a version is one of those that a request accepts. */
export function isAccepted(version: Version, match: IfMatch): boolean {
  return match === "any" || match.includes(version);
}

/** Gives the strong tag of an answer that shows one entity. */
export function tagOf(version: Version, text: string | Uint8Array): string {
  const hash = createHash("sha1").update(text).digest("base64url").slice(0, 16);
  return `"${version ?? "none"}.${hash}"`;
}
