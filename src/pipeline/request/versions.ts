import { createHash } from "node:crypto";
import { isLate } from "../../database/translate_error.ts";
import { isConflict, preconditionFailed, preconditionRequired } from "../../errors/refusals.ts";
import { type Filter, hasOneOf } from "../../filter/filters.ts";
import { asVersion, type Version } from "../../schema/fields/system_fields.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/document_values.ts";
import type { LevelContext, OpenLevelContext } from "./call.ts";
import type { Reply } from "./reply.ts";

/** The versions that a request may write: any, or those of its tags. A tag may hold a hash of its holder. */
export type IfMatch = "any" | readonly { readonly version: Version; readonly parentId?: string }[];

/** One tag of a list, which may have empty places. A proxy that compresses answers may have weakened it. */
const TAG = /[\t ,]*(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*(?:,[\t ,]*|$)/gy;

const INNER = /^(?:(0|[1-9]\d{0,14})|none)(?:\.([\w-]*))?$/;

const HASH_LENGTH = 16;
const MARK_LENGTH = 8;

/** Reads the header `If-Match`; `undefined` where there is none. What no answer has as its tag matches nothing. */
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

/** Whether a request may accept a version: no tag is known to be of another one, or of another document. */
function isAccepted({ version, parentId }: VersionRead, match: IfMatch): boolean {
  if (match === "any") return true;
  const mark = parentId && hashOf(parentId, MARK_LENGTH);
  return match.some((tag) =>
    (version === undefined || tag.version === version) &&
    (tag.parentId === undefined || mark === undefined || tag.parentId === mark)
  );
}

/** Gives the strong tag of an answer that shows one entity, as any path to it shows it, or that names its version alone. */
export function tagOf(
  version: Version,
  { text, parentId }: Pick<Reply, "text" | "parentId">,
): string {
  const mark = parentId === undefined ? "" : hashOf(parentId, MARK_LENGTH);
  // A mark stands behind a hash, if only that of no text.
  const hash = mark === "" && text === undefined ? "" : `.${hashOf(text ?? "", HASH_LENGTH)}`;
  return `"${version ?? "none"}${hash}${mark}"`;
}

function hashOf(text: string | Uint8Array, length: number): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, length);
}

export function versionCondition({ params: { match }, level }: LevelContext): Filter | undefined {
  const { versionKey } = level;
  if (match === undefined || match === "any") return undefined;
  // Without versions there is nothing to tell what has changed.
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

/** Reads the version of a level's entity, before its data: a version that is older than its data does no harm. */
export async function readVersion(context: OpenLevelContext, id: string): Promise<Version> {
  const { level: { versionKey }, source } = context;
  if (versionKey === undefined) return null;
  const values = await source.readStored(id, [versionKey]);
  return asVersion(values?.[versionKey]);
}

/** The version of the document around what is embedded, as it was read first; `undefined` for an entity with its own. */
export function outerVersion({ level, above }: LevelContext): Version | undefined {
  return level.link?.embedded ? above?.cache.version ?? null : undefined;
}

/** The version that counts for an entity, and its holder, as they are known from reading it. */
export interface VersionRead {
  /** `undefined` if the entity was read without. */
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

/** Names the document with the version of an entity, where the path may lead to another one later. */
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
  const { params: { match }, level: { concurrency, versionKey, hooks, kind } } = context;
  if (match === undefined) {
    if (concurrency === "required" && kind.verb !== "get") throw preconditionRequired();
    return;
  }
  // The write itself is bound to the version; that of a hook is not, and an action may write nothing.
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
  if (!isThere && context.params.match !== undefined) throw preconditionFailed("No such entity");
}

/** Refuses `If-Match` for creations and whole lists: no tag is theirs. */
export function refuseTags({ route: { operation }, params: { match } }: LevelContext): void {
  if (match !== undefined && !operation.item) throw preconditionFailed();
}

/** Runs a write that is bound to a version: where it meets none, the version has changed. */
export async function bindToVersion<T>(
  { params }: LevelContext,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const isLost = params.match !== undefined && (isConflict(error) || isLate(error));
    throw isLost ? preconditionFailed(undefined, error) : error;
  }
}
