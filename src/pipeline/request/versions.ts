import { createHash } from "node:crypto";
import { isLate } from "../../database/translate_error.ts";
import { isConflict, preconditionFailed, preconditionRequired } from "../../errors/refusals.ts";
import { type Filter, hasOneOf } from "../../filter/filters.ts";
import { asVersion, type Version } from "../../schema/fields/system_fields.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/document_values.ts";
import type { LevelContext, OpenLevelContext } from "./request_context.ts";
import type { Reply } from "./reply.ts";

/**
 * The versions that a request may write, from the tags of `If-Match`. `"any"` stands for `If-Match: *`. A tag may
 * contain a hash of the identifier of the document with the version.
 */
export type IfMatch = "any" | readonly { readonly version: Version; readonly parentId?: string }[];

/**
 * The pattern of one tag in the list of `If-Match`. The list may have empty elements. A proxy that compresses answers
 * may have added `W/` to the tag of an answer.
 */
const TAG = /[\t ,]*(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*(?:,[\t ,]*|$)/gy;

const INNER = /^(?:(0|[1-9]\d{0,14})|none)(?:\.([\w-]*))?$/;

const HASH_LENGTH = 16;
const MARK_LENGTH = 8;

/**
 * Reads the header `If-Match`. Returns `undefined` without the header, so that any version may be written. A tag that
 * no answer can have matches no entity, so a request with only such tags is refused.
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
 * Whether a tag of `If-Match` fits the version that was read and the document with this version. An unknown version
 * fits every tag, because the write itself is bound to the version. An unknown document fits every tag too.
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
 * Returns the strong entity tag of an answer. The tag contains the version, a hash of the text, and a hash of the
 * document's identifier if the path may lead to another document later.
 */
export function tagOf(
  version: Version,
  { text, parentId }: Pick<Reply, "text" | "parentId">,
): string {
  const mark = parentId === undefined ? "" : hashOf(parentId, MARK_LENGTH);
  // `readIfMatch()` finds the hash of the identifier behind the hash of a text. Without a text, the empty text is
  // hashed.
  const hash = mark === "" && text === undefined ? "" : `.${hashOf(text ?? "", HASH_LENGTH)}`;
  return `"${version ?? "none"}${hash}${mark}"`;
}

function hashOf(text: string | Uint8Array, length: number): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, length);
}

export function versionCondition({ match, level }: LevelContext): Filter | undefined {
  const { versionKey } = level;
  if (match === undefined || match === "any") return undefined;
  // Without versions, the condition selects no entity, because no tag can show that the entity is unchanged.
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
 * Reads the version of a level's entity before the data of the entity. If the entity changes between both reads, its
 * version is too old, and a write with this version is refused. A version that is too new would hide the change.
 */
export async function readVersion(context: OpenLevelContext, id: string): Promise<Version> {
  const { level: { versionKey }, source } = context;
  if (versionKey === undefined) return null;
  const values = await source.readStored(id, [versionKey]);
  return asVersion(values?.[versionKey]);
}

/**
 * Returns the version of the document that embeds the entity, as it was read first. An embedded entity has no version
 * field, so its tags contain the version of this document. Returns `undefined` if the entity is not embedded.
 */
export function outerVersion({ level, above }: LevelContext): Version | undefined {
  return level.link?.embedded ? above?.cache.version ?? null : undefined;
}

/**
 * The version of an entity and the document with this version, as a read found them. `checkVersion()` compares both
 * with `If-Match`.
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
 * Returns the identifier of the document with the version, if the path may lead to another document later. A tag with
 * this identifier does not fit the other document. Returns `undefined` if the path always leads to the same document.
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
  const { match, level: { concurrency, versionKey, hooks, kind } } = context;
  if (match === undefined) {
    if (concurrency === "required" && kind.verb !== "get") throw preconditionRequired();
    return;
  }
  // A write by the framework is bound to the version, so a version that was not read may pass here. A write by a hook
  // is not bound, and an action may write nothing, so both need a version that was read.
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

/** Throws a 412 if `If-Match` is sent for a creation or a whole list, because no tag belongs to them. */
export function refuseTags({ route: { operation }, match }: LevelContext): void {
  if (match !== undefined && !operation.item) throw preconditionFailed();
}

/**
 * Runs a write that is bound to the version in `If-Match`. Throws a 412 if the write matches no entity, because the
 * version has changed.
 */
export async function bindToVersion<T>(
  { match }: LevelContext,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const isLost = match !== undefined && (isConflict(error) || isLate(error));
    throw isLost ? preconditionFailed(undefined, error) : error;
  }
}

/**
 * Whether a write has to read its entity as a document because of versions. The document is needed to refuse a request
 * that names no version, or to compare an `If-Match` that one statement cannot compare.
 */
export function needsDocument(context: LevelContext): boolean {
  return needsVersion(context) || isReadFirst(context);
}

/** Whether a write must be refused because it has no `If-Match` and `concurrency` is `"required"`. */
function needsVersion(
  { level: { concurrency }, route: { operation }, match }: LevelContext,
): boolean {
  return concurrency === "required" && match === undefined && operation.item &&
    operation.change !== undefined;
}

/**
 * Whether an entity must be read before a write, because `If-Match` stands for an entity without a version or for a
 * document that the path alone does not identify.
 */
function isReadFirst({ route: { operation }, match }: LevelContext): boolean {
  return Array.isArray(match) &&
    match.some(({ version, parentId }) =>
      parentId !== undefined || (version === null && operation.change !== "remove")
    );
}
