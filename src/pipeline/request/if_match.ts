import { createHash } from "node:crypto";
import type { Version } from "../../schema/fields/system_fields.ts";

/** A version, and what holds it. */
export interface Versioned {
  /** `null` for an entity without one. */
  readonly version: Version;
  /** What names the document with the version, where its path may lead to another one later. */
  readonly holder?: string | undefined;
}

/** What a request may write: any version, or those of its tags. A tag has its holder's mark, where there is one. */
export type IfMatch = "any" | readonly Versioned[];

/** One tag of a list, which may have empty places. A proxy that compresses answers may have weakened it. */
const TAG = /[\t ,]*(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*(?:,[\t ,]*|$)/gy;

/** What is in a tag: the version as answers write it, and what tells answers of one version apart. */
const INNER = /^(?:(0|[1-9]\d{0,14})|none)(?:\.([\w-]*))?$/;

const HASH_LENGTH = 16;
const MARK_LENGTH = 8;

/** Reads the header `If-Match`; `undefined` where there is none. What no answer has as its tag matches nothing. */
export function readIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  const tags = [...header.matchAll(TAG)];
  const isList = tags.map(([text]) => text).join("") === header;
  return isList ? tags.flatMap(([, inner = ""]) => readTag(inner)) : [];
}

function readTag(inner: string): Versioned[] {
  const [found, digits, hash = ""] = INNER.exec(inner) ?? [];
  if (found === undefined) return [];
  const version = digits === undefined ? null : Number(digits);
  const isMarked = hash.length === HASH_LENGTH + MARK_LENGTH;
  return [{ version, ...isMarked && { holder: hash.slice(HASH_LENGTH) } }];
}

/** What is known of the version that a request would write; `undefined` where it is not. */
type Known = { readonly [K in keyof Versioned]: Versioned[K] | undefined };

/** Whether a request may accept a version: no tag is known to be of another one, or of another document. */
export function isAccepted({ version, holder }: Known, match: IfMatch): boolean {
  if (match === "any") return true;
  const mark = holder === undefined ? undefined : markOf(holder);
  return match.some((tag) =>
    (version === undefined || tag.version === version) &&
    (tag.holder === undefined || mark === undefined || tag.holder === mark)
  );
}

/** Gives the strong tag of an answer that shows one entity, as any path to it shows it. */
export function tagOf(version: Version, text: string | Uint8Array): string {
  return `"${version ?? "none"}.${hashOf(text, HASH_LENGTH)}"`;
}

/** Adds to a tag what holds the version. */
export function markTag(tag: string, holder: string | undefined): string {
  return holder === undefined ? tag : `${tag.slice(0, -1)}${markOf(holder)}"`;
}

function markOf(holder: string): string {
  return hashOf(holder, MARK_LENGTH);
}

function hashOf(text: string | Uint8Array, length: number): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, length);
}
