import { isLate } from "../../database/errors/translate_error.ts";
import { isConflict, preconditionFailed, preconditionRequired } from "../../errors/refusals.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasOneOf } from "../../filter/versions.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { versionOf } from "../../schema/mongoose/schemas/odd_versions.ts";
import { idParam } from "./call.ts";
import type { LevelCall, OpenLevel } from "./call.ts";
import { isAccepted } from "./if_match.ts";

/** Without versions there is nothing to tell what has changed. */
const NEVER = { _id: { $in: [] } };

/** Gives the condition on the document of a level that only the versions of `If-Match` meet. */
export function versionCondition({ asked: { match }, level }: LevelCall): Filter | undefined {
  const { versionKey } = level;
  if (match === undefined || match === "any") return undefined;
  return versionKey === undefined
    ? NEVER
    : hasOneOf(versionKey, match.map(({ version }) => version));
}

/** The version that an entity was read with; `undefined` if it was read without. */
export function versionIn(
  entity: object,
  { level: { versionKey } }: LevelCall,
): Version | undefined {
  if (versionKey === undefined) return null;
  if (isDocument(entity)) {
    return entity.isSelected(versionKey) ? versionOf(entity, versionKey) : undefined;
  }
  return versionKey in entity ? asVersion(entity[versionKey as keyof object]) : undefined;
}

/** Reads the version of a level's entity, before its data: a version that is older than its data does no harm. */
export async function readVersion(at: OpenLevel, id: string = idParam(at)): Promise<Version> {
  const { level: { versionKey }, source } = at;
  if (versionKey === undefined) return null;
  const values = await source.storedValues(id, [versionKey]);
  return asVersion(values?.[versionKey]);
}

/** The version of the document around what is embedded, as it was read first; `undefined` for an entity with its own. */
export function outerVersion({ level, above }: LevelCall): Version | undefined {
  return level.link?.embedded ? above?.opened.version ?? null : undefined;
}

/** The version that counts for an entity: that of the document around it, or its own as it was read. */
export function versionRead(at: LevelCall, own: Version | undefined): Version | undefined {
  const outer = outerVersion(at);
  return outer === undefined ? own : outer;
}

/**
 * What names the document with the version of an entity, where the path does not: what a parent refers to and what a
 * `fetch` hook gives may be another one later, of the same version.
 */
export function holderOf({ level, above, source }: OpenLevel, entity: object): string | undefined {
  const { link, hooks } = level;
  if (link?.embedded) return above?.opened.holder;
  if (link?.array !== false && hooks.fetch === undefined) return undefined;
  return isDocument(entity) && entity._id ? String(entity._id) : source.only;
}

interface ReadEntity {
  /** As it was stored. */
  readonly stored: object;
  /** `undefined` if it was read without. */
  readonly version: Version | undefined;
}

/**
 * Checks that a client may change the version that it has read.
 *
 * @throws {RestError} 412 if the entity has changed since, 428 if the client does not say what it has read.
 */
export function checkVersion(acting: OpenLevel, { stored, version: own }: ReadEntity): void {
  const { asked: { match }, level: { concurrency, versionKey, hooks } } = acting;
  if (match === undefined) {
    if (concurrency === "required") throw preconditionRequired();
    return;
  }
  const read = versionRead(acting, own);
  // The write itself is bound to the version; that of a hook is not.
  const version = hooks.persist === undefined ? read : read ?? null;
  const isCounted = match === "any" || versionKey !== undefined;
  const holder = holderOf(acting, stored);
  if (!isCounted || !isAccepted({ version, holder }, match)) throw preconditionFailed();
}

/**
 * Refuses a creation and a removal of a whole list that name what they are bound to: no tag is theirs.
 *
 * @throws {RestError} 412 if the client says what it has read.
 */
export function refuseTags({ route: { operation }, asked: { match } }: LevelCall): void {
  if (match !== undefined && !operation.item) throw preconditionFailed();
}

/** Runs a write that is bound to a version: where it meets none, the version has changed. */
export async function bindToVersion<T>({ asked }: LevelCall, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const isLost = asked.match !== undefined && (isConflict(error) || isLate(error));
    throw isLost ? preconditionFailed(error) : error;
  }
}
