import { createHash } from "node:crypto";
import { preconditionFailed, preconditionRequired } from "../../errors/refusals.ts";
import { type Filter, hasOneOf } from "../../filter/filters.ts";
import { asVersion, type Version } from "../../schema/fields/system_fields.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/document_values.ts";
import type { LevelContext, OpenLevelContext } from "./request_context.ts";
import type { Reply } from "./reply.ts";

/**
 * The versions of an entity that a request may change, from the tags in the header `If-Match`. `"any"` stands for
 * `If-Match: *`. `parentId` is a hash of the identifier of the document to which the version belongs.
 */
export type IfMatch = "any" | readonly { readonly version: Version; readonly parentId?: string }[];

/**
 * The pattern of one tag in the header `If-Match`, which holds a list. The list may have empty elements. A proxy that
 * compresses answers may have added `W/` to a tag.
 */
const TAG = /[\t ,]*(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*(?:,[\t ,]*|$)/gy;

const INNER = /^(?:(0|[1-9]\d{0,14})|none)(?:\.([\w-]*))?$/;

const HASH_LENGTH = 16;
const MARK_LENGTH = 8;

/**
 * Reads the header `If-Match`. Returns `undefined` without the header, so that the request may change any version. A
 * tag that the framework never sends is left out, so a request with only such tags matches no version and is refused.
 */
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

/**
 * Whether `If-Match` allows a write of the entity that was read. A version that was not read passes, because the write
 * itself has a condition on the version. The identifier of the document is compared only if the tag and the read have
 * one, as for a path that may lead to another document later.
 */
function isAccepted({ version, parentId }: VersionRead, match: IfMatch): boolean {
  if (match === "any") return true;
  const mark = parentId && hashOf(parentId, MARK_LENGTH);
  return match.some((tag) =>
    (version === undefined || tag.version === version) &&
    (tag.parentId === undefined || mark === undefined || tag.parentId === mark)
  );
}

/**
 * Returns the `ETag` of an answer with an entity, which is a strong tag. The tag contains the version and a hash of the
 * body of the answer. If the path may lead to another document later, the tag also contains a hash of the identifier of
 * the document.
 */
export function tagOf(
  version: Version,
  { text, parentId }: Pick<Reply, "text" | "parentId">,
): string {
  const mark = parentId === undefined ? "" : hashOf(parentId, MARK_LENGTH);
  // `readIfMatch()` finds the hash of the identifier behind the hash of the body of the answer, which has a fixed
  // length. The tag of an answer without a body, such as a 204, therefore has the hash of an empty text in this place.
  const hash = mark === "" && text === undefined ? "" : `.${hashOf(text ?? "", HASH_LENGTH)}`;
  return `"${version ?? "none"}${hash}${mark}"`;
}

function hashOf(text: string | Uint8Array, length: number): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, length);
}

export function versionCondition({ match, level }: LevelContext): Filter | undefined {
  const { versionKey } = level;
  if (match === undefined || match === "any") return undefined;
  // An entity without a version cannot be compared with a tag. The condition selects no entity, so that the write is
  // refused.
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

/**
 * Reads the version of an entity before the rest of the entity is read. If another request changes the entity between
 * both reads, the version is too old, and a write with this version is refused. A version that is read afterwards could
 * hide the change.
 */
export async function readVersion(context: OpenLevelContext, id: string): Promise<Version> {
  const { level: { versionKey }, source } = context;
  if (versionKey === undefined) return null;
  const values = await source.readStored(id, [versionKey]);
  return asVersion(values?.[versionKey]);
}

/**
 * Returns the version of the document that embeds the entity of a request. Embedded entities have no version, so their
 * `ETag` contains the version of this document. Returns `undefined` if the entity is not embedded.
 */
export function outerVersion({ level, above }: LevelContext): Version | undefined {
  return level.link?.embedded ? above?.cache.version ?? null : undefined;
}

/**
 * Returns the version of the document that embeds the entity of a request, after the request has written this entity.
 * Another request may have incremented this version further. A client that sends the lower version in `If-Match` then
 * gets a 412 and overwrites no change.
 */
export function outerVersionAfter(context: LevelContext): Version | undefined {
  const outer = outerVersion(context);
  if (outer === undefined) return undefined;
  return hasVersions(context) ? (outer ?? 0) + 1 : null;
}

function hasVersions({ level, above }: LevelContext): boolean {
  return level.link?.embedded && above ? hasVersions(above) : level.versionKey !== undefined;
}

/**
 * The version of an entity that was read, and the identifier of the document to which the version belongs. Both are
 * compared with `If-Match` before a write.
 */
export interface VersionRead {
  /** The version of the entity. `undefined` if the entity was read without its version. */
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

/**
 * Returns the identifier of the document to which the version in the `ETag` belongs, if the path may lead to another
 * document later. A tag with a hash of this identifier is not accepted for the other document. Returns `undefined` if
 * the path always leads to the same document.
 */
export function parentIdOf(
  { level, above, source }: OpenLevelContext,
  entity: object,
): string | undefined {
  const { link, hooks } = level;
  if (link?.embedded) return above?.cache.parentId;
  if (link?.array !== false && hooks.fetch === undefined) return undefined;
  return isDocument(entity) && entity._id ? String(entity._id) : source.only;
}

export function checkVersion(
  context: OpenLevelContext,
  { version: read, parentId }: VersionRead,
): void {
  const { match, level: { ifMatch, versionKey, hooks, kind } } = context;
  if (match === undefined) {
    if (ifMatch === true && kind.verb !== "get") throw preconditionRequired();
    return;
  }
  // A statement of the framework has the version in `If-Match` as a condition, so an entity that was read without its
  // version passes this check. A `persist` hook has no such condition, and an action may write nothing. In these two
  // cases, an entity that was read without its version counts as an entity without a version, so that it does not match
  // another version in `If-Match`.
  const isBound = hooks.persist === undefined && kind.change !== "act";
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

/**
 * Throws a 412 if a request that creates an entity or changes a whole list has the header `If-Match`, because no answer
 * has given the client a tag for it.
 */
export function refuseTags({ route: { operation }, match }: LevelContext): void {
  if (match !== undefined && !operation.item) throw preconditionFailed();
}

/**
 * Whether an entity must be read as a document before its write because of the header `If-Match`. The read is needed to
 * refuse a request without the required header, or to compare a tag that the condition of a single statement cannot
 * compare.
 */
export function needsDocument(context: LevelContext): boolean {
  return needsVersion(context) || isReadFirst(context);
}

/** Whether a write has no `If-Match` although the option `ifMatch` is on, so that it must be refused. */
function needsVersion(
  { level: { ifMatch }, route: { operation }, match }: LevelContext,
): boolean {
  return ifMatch === true && match === undefined && operation.item &&
    operation.change !== undefined;
}

/**
 * Whether an entity must be read before a write, because `If-Match` contains a tag of an entity without a version or a
 * tag with the hash of an identifier. The condition of a single statement cannot compare such a tag.
 */
function isReadFirst({ route: { operation }, match }: LevelContext): boolean {
  return Array.isArray(match) &&
    match.some(({ version, parentId }) =>
      parentId !== undefined || (version === null && operation.change !== "remove")
    );
}
