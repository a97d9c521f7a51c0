import type { Document } from "mongoose";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/internals.ts";
import { dropShownDefaults, ownDefaults } from "../../schema/mongoose/documents/shown_defaults.ts";

/** An object that an update writes as a whole, as it was not stored when the document was read. */
export interface FreshObject {
  /** The path. */
  readonly path: string;
  /** Whether a path inside was given, not only filled with its default. */
  readonly isGiven: (path: string) => boolean;
}

/** The paths at which a body has put an object where none was. */
const merged = new WeakMap<Document, Set<string>>();

/** Remembers that a body has put an object where none was: another request may put one there as well, and both merge. */
export function rememberObject(doc: Document, path: string): void {
  let paths = merged.get(doc);
  if (paths === undefined) merged.set(doc, paths = new Set());
  paths.add(path);
}

/**
 * Gives the objects that the next save of a stored document creates, and has it leave out the defaults that it only
 * shows.
 */
export function takeFreshObjects(doc: Document): FreshObject[] {
  const shown = dropShownDefaults(doc).map(({ path, changed }) => {
    const defaults = defaultsWithin(doc, path);
    const isGiven = (inner: string) =>
      !defaults.has(inner) && changed.some((each) => areOnOneWay(each, inner));
    return { path, isGiven };
  });
  const given = [...merged.get(doc) ?? []].map((path) => {
    const defaults = defaultsWithin(doc, path);
    return { path, isGiven: (inner: string) => !defaults.has(inner) };
  });
  return [...shown, ...given];
}

function areOnOneWay(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`);
}

/** The paths below one at which a document has put defaults. */
function defaultsWithin(doc: Document, path: string): ReadonlySet<string> {
  const found = new Set<string>();
  const collect = (value: unknown, at: string): void => {
    if (isDocument(value)) {
      for (const each of ownDefaults(value)) found.add(`${at}.${each}`);
      for (const [name, inner] of Object.entries(rawValues(value))) collect(inner, `${at}.${name}`);
    } else if (value instanceof Map) {
      for (const [key, inner] of value) collect(inner, `${at}.${key}`);
    }
  };
  collect(doc.get(path, undefined, { getters: false }), path);
  return found;
}
