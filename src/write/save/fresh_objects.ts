import type { Document } from "mongoose";
import type { Filter } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/raw_values.ts";
import { dropShownDefaults, ownDefaults } from "../../schema/mongoose/documents/shown_defaults.ts";
import type { Update } from "../../schema/mongoose/statements/write_as_is.ts";
import type { StoredObject } from "../apply_update.ts";
import { storedValues, valueAt } from "../stored_values.ts";

/** An object that an update writes as a whole, as it was not stored when the document was read. */
export interface FreshObject {
  readonly path: string;
  /** Whether a path inside was given, not only filled with its default. */
  readonly isGiven: (path: string) => boolean;
}

const merged = new WeakMap<Document, Set<string>>();

/** Remembers an object that a body has put where none was: another request may put one there as well, and both merge. */
export function rememberObject(doc: Document, path: string): void {
  let paths = merged.get(doc);
  if (paths === undefined) merged.set(doc, paths = new Set());
  paths.add(path);
}

/** Gives the objects that the next save of a document creates, and has it leave out the defaults that it only shows. */
export function takeFreshObjects(doc: Document): FreshObject[] {
  const shown = dropShownDefaults(doc);
  const given = [...merged.get(doc) ?? []].map((path) => ({ path, changed: [path] }));
  return [...shown, ...given].map(({ path, changed }) => {
    const defaults = defaultsWithin(doc, path);
    const isGiven = (inner: string) =>
      !defaults.has(inner) && changed.some((each) => areOnOneWay(each, inner));
    return { path, isGiven };
  });
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

/** What an update writes, and what must hold. */
export interface PlannedUpdate {
  readonly update: Update;
  readonly conditions: readonly Filter[];
}

/** Makes an update create an object only if none is stored; it merges into one that is, without its own defaults. */
export function mergeFresh(
  update: Update,
  { objects, stored }: {
    readonly objects: readonly FreshObject[];
    readonly stored: StoredObject | undefined;
  },
): PlannedUpdate {
  const set: Record<string, unknown> = { ...update.$set };
  const conditions: Filter[] = [];
  const put = ({ path, isGiven }: FreshObject, value: unknown): void => {
    const members = membersOf(value);
    if (members === undefined) set[path] = value;
    else if (isJsonObject(valueAt(stored, path))) {
      for (const [key, inner] of members) {
        const innerPath = `${path}.${key}`;
        if (isGiven(innerPath)) put({ path: innerPath, isGiven }, inner);
      }
    } else {
      set[path] = value;
      conditions.push({ $nor: [{ [path]: { $type: "object", $not: { $type: "array" } } }] });
    }
  };
  for (const object of objects) {
    if (!Object.hasOwn(set, object.path)) continue;
    const { [object.path]: value } = set;
    delete set[object.path];
    put(object, value);
  }
  const { $set: _set, ...others } = update;
  return { update: Object.keys(set).length > 0 ? { ...others, $set: set } : others, conditions };
}

/** The members of an object or a Map, if a path can name all of them. */
function membersOf(value: unknown): [string, unknown][] | undefined {
  // The objects in a Map are still documents.
  const object = isDocument(value) ? storedValues(value) : value;
  const isMap = object instanceof Map;
  if (!isMap && !isJsonObject(object)) return undefined;
  const members: [string, unknown][] = isMap ? [...object] : Object.entries(object);
  return members.every(([key]) => key !== "" && !/^\$|\./.test(key)) ? members : undefined;
}
