import { createHash } from "node:crypto";
import { preconditionFailed, preconditionRequired } from "../../errors/refusals.ts";
import { type Filter, hasOneOf } from "../../filter/filters.ts";
import { asVersion, type Version } from "../../schema/fields/system_fields.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/document_values.ts";
import type { LevelContext, OpenLevelContext } from "./request_context.ts";
import type { TextAnswer } from "./answer.ts";

/** `parentId` is a hash of the identifier. */
export type IfMatch = "any" | readonly { readonly version: Version; readonly parentId?: string }[];

/** A list of tags may have empty elements. A compressing proxy may have added `W/`. */
const TAG = /[\t ,]*(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*(?:,[\t ,]*|$)/gy;

const INNER = /^(?:(0|[1-9]\d{0,14})|none)(?:\.([\w-]*))?$/;

const HASH_LENGTH = 16;
const MARK_LENGTH = 8;

/** Leaves out tags that the framework never sends. If no tag is left, nothing matches. */
export function readIfMatch(header: string | undefined): IfMatch | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "any";
  const tags = [...header.matchAll(TAG)];
  if (tags.map(([text]) => text).join("") !== header) return [];
  return tags.flatMap(([, inner = ""]) => {
    const [found, digits, hash = ""] = INNER.exec(inner) ?? [];
    if (found === undefined) return [];
    const version = digits === undefined ? null : Number(digits);
    const isMarked = hash.length === HASH_LENGTH + MARK_LENGTH;
    return [{ version, ...isMarked && { parentId: hash.slice(HASH_LENGTH) } }];
  });
}

/** An unread version passes, because the write has a condition on it. */
function isAccepted({ version, parentId }: VersionRead, match: IfMatch): boolean {
  if (match === "any") return true;
  const mark = parentId && hashOf(parentId, MARK_LENGTH);
  return match.some((tag) =>
    (version === undefined || tag.version === version) &&
    (tag.parentId === undefined || mark === undefined || tag.parentId === mark)
  );
}

export function tagOf(
  version: Version,
  { text, parentId }: Pick<TextAnswer, "text" | "parentId">,
): string {
  const mark = parentId === undefined ? "" : hashOf(parentId, MARK_LENGTH);
  // `readIfMatch()` expects a body hash before the hash of the identifier, even without a body.
  const hash = mark === "" && text === undefined ? "" : `.${hashOf(text ?? "", HASH_LENGTH)}`;
  return `"${version ?? "none"}${hash}${mark}"`;
}

function hashOf(text: string | Uint8Array, length: number): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, length);
}

export function versionCondition({ match, level }: LevelContext): Filter | undefined {
  const { versionKey } = level;
  if (match === undefined || match === "any") return undefined;
  // Without a version field, no tag can match.
  return versionKey === undefined
    ? { _id: { $in: [] } }
    : hasOneOf(versionKey, match.map(({ version }) => version));
}

export function versionIn(
  entity: object,
  { level: { versionKey } }: LevelContext,
): Version | undefined {
  if (versionKey === undefined) return null;
  if (isDocument(entity)) {
    return entity.isSelected(versionKey) ? asVersion(rawValues(entity)[versionKey]) : undefined;
  }
  return versionKey in entity ? asVersion(entity[versionKey as keyof object]) : undefined;
}

/** A version that is read after the entity could hide a change between both reads. */
export async function readVersion(context: OpenLevelContext, id: string): Promise<Version> {
  const { level: { versionKey }, source } = context;
  if (versionKey === undefined) return null;
  const values = await source.readStored(id, [versionKey]);
  return asVersion(values?.[versionKey]);
}

/** Embedded entities have the version of the document that embeds them. */
export function outerVersion({ level, embedding }: OpenLevelContext): Version | undefined {
  return level.link?.embedded ? embedding?.version ?? null : undefined;
}

/**
 * If another request also increments the document's version, this one is too low: `If-Match` gets a 412 and overwrites
 * nothing.
 */
export function outerVersionAfter(context: OpenLevelContext): Version | undefined {
  const outer = outerVersion(context);
  if (outer === undefined) return undefined;
  return hasVersions(context) ? (outer ?? 0) + 1 : null;
}

function hasVersions({ level, above }: LevelContext): boolean {
  return level.link?.embedded && above ? hasVersions(above) : level.versionKey !== undefined;
}

export interface VersionRead {
  readonly version: Version | undefined;
  readonly parentId: string | undefined;
}

export function versionRead(entity: object, context: OpenLevelContext): VersionRead {
  const outer = outerVersion(context);
  return {
    version: outer === undefined ? versionIn(entity, context) : outer,
    parentId: parentIdOf(context, entity),
  };
}

export function parentIdOf(
  { level, embedding, source }: OpenLevelContext,
  entity: object,
): string | undefined {
  const { link, hooks } = level;
  if (link?.embedded) return embedding?.parentId;
  if (link?.array !== false && hooks.fetch === undefined) return undefined;
  return isDocument(entity) && entity._id ? String(entity._id) : source.only;
}

export function checkVersion(
  context: OpenLevelContext,
  { version: read, parentId }: VersionRead,
): void {
  const { match, level: { ifMatch, versionKey, hooks, traits } } = context;
  if (match === undefined) {
    if (ifMatch === true && traits.verb !== "get") throw preconditionRequired();
    return;
  }
  // A statement compares an unread version itself. A `persist` hook or an action may not, so there an unread version
  // fails.
  const isBound = hooks.persist === undefined && traits.change !== "act";
  const version = isBound ? read : read ?? null;
  const isCounted = match === "any" || versionKey !== undefined;
  if (!isCounted || !isAccepted({ version, parentId }, match)) throw preconditionFailed();
}

export function createsOnly({ req: { headers } }: LevelContext): boolean {
  return headers["if-none-match"]?.trim() === "*";
}

export function checkPresence(context: LevelContext, isThere: boolean): void {
  if (isThere && createsOnly(context)) throw preconditionFailed("There is an entity already");
  if (!isThere && context.match !== undefined) throw preconditionFailed("No such entity");
}

/** No answer has an `ETag` of a list or of a new entity, so none can match. */
export function refuseTags({ route: { operation }, match }: LevelContext): void {
  if (match !== undefined && !operation.item) throw preconditionFailed();
}

export function needsDocument(context: LevelContext): boolean {
  return needsVersion(context) || isReadFirst(context);
}

function needsVersion(
  { level: { ifMatch }, route: { operation }, match }: LevelContext,
): boolean {
  return ifMatch === true && match === undefined && operation.item &&
    operation.change !== undefined;
}

/** A statement cannot compare a tag without a version or with the hash of an identifier. */
function isReadFirst({ route: { operation }, match }: LevelContext): boolean {
  return Array.isArray(match) &&
    match.some(({ version, parentId }) =>
      parentId !== undefined || (version === null && operation.change !== "remove")
    );
}
