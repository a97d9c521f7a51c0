import mongoose from "mongoose";
import type { Document } from "mongoose";

const { CastError, ValidatorError } = mongoose.Error;

export const VALUES_KEY = "_doc";

export function rawValues(doc: Document): Record<string, unknown> {
  return (doc as unknown as Record<typeof VALUES_KEY, Record<string, unknown>>)[VALUES_KEY];
}

interface NestedObject {
  readonly "$__isNested"?: boolean;
  readonly "$__parent": Document;
  readonly "$__": { readonly getters?: Readonly<Record<string, unknown>> };
}

/** A nested path looks like a document, but only its root document, which is returned, tracks changes. */
export function nestedPlace(
  given: Document,
): { readonly doc: Document; readonly path: string } | undefined {
  const { $__isNested: isNested, $__: { getters = {} } = {} } = given as unknown as NestedObject;
  if (!isNested) return undefined;
  let doc = given;
  while ((doc as unknown as NestedObject).$__isNested) {
    doc = (doc as unknown as NestedObject).$__parent;
  }
  const [path = ""] = Object.entries(getters).find(([, each]) => each === given) ?? [];
  return { doc, path };
}

/** Reads through Mongoose's proxy around an array are slow. */
export function rawArray(array: readonly unknown[]): readonly unknown[] {
  return (array as { readonly __array?: readonly unknown[] }).__array ?? array;
}

/** The place of a value: `doc` tracks changes at `path`. In a Map, the value is at `key` of `map`. */
export interface Slot {
  readonly doc: Document;
  readonly path: string;
  readonly map?: Map<string, unknown>;
  readonly key?: string;
}

export function readSlot({ doc, path, map, key }: Slot): unknown {
  if (map !== undefined) return Map.prototype.get.call(map, key);
  return doc.get(path, undefined, { getters: false });
}

export function writeSlot({ doc, path, map, key }: Slot, value: unknown): void {
  if (map === undefined) doc.set(path, value);
  else if (value !== undefined) map.set(key as string, value);
  else if (Map.prototype.delete.call(map, key)) doc.markModified(path);
}

export function writeFree(
  slot: Slot,
  value: unknown,
  { changed }: { changed: readonly string[] },
): void {
  const { doc, path, map, key } = slot;
  for (const each of changed) doc.markModified(each);
  if (map !== undefined) Map.prototype.set.call(map, key, value);
  else setRaw(doc, { path, value });
}

export function setRaw(doc: Document, { path, value }: { path: string; value: unknown }): void {
  (doc as unknown as { $__setValue(path: string, value: unknown): void }).$__setValue(path, value);
}

/** Sets fields as a read does: a field without a value gets its default. */
export function initFields(doc: Document, values: Readonly<Record<string, unknown>>): void {
  const raw = rawValues(doc);
  const order = Object.keys(raw);
  for (const name of Object.keys(values)) {
    if (doc.populated(name) !== undefined) doc.depopulate(name);
    delete raw[name];
  }
  const defined = Object.entries(values).filter(([, value]) => value !== undefined);
  (doc as unknown as { $__init(values: object): void }).$__init(Object.fromEntries(defined));
  orderFields(doc, order);
}

/** Fields that `names` lacks move to the end. */
export function orderFields(doc: Document, names: readonly string[]): void {
  const raw = rawValues(doc);
  const before = Object.keys(raw);
  const after = [...new Set([...names, ...before])].filter((name) => Object.hasOwn(raw, name));
  if (after.every((name, index) => name === before[index])) return;
  for (const name of after) {
    const { [name]: value } = raw;
    delete raw[name];
    raw[name] = value;
  }
}

/** Adds the validation error by which Mongoose reports a stored value that it cannot cast. */
export function addCastError(
  doc: Document,
  { path, value, reason = new CastError("unknown", value, path) }: {
    readonly path: string;
    readonly value?: unknown;
    readonly reason?: InstanceType<typeof CastError>;
  },
): void {
  const { message } = reason;
  doc.invalidate(path, new ValidatorError({ path, message, type: "cast", value, reason }));
}

/** Existing elements stay the same documents, so that Mongoose does not run their setters again. */
export function writeElements({ doc, path }: Slot, elements: readonly unknown[]): void {
  doc.markModified(path);
  for (const each of elements) {
    // By `__index`, Mongoose would recognise a moved element and replace it by a copy.
    if (each instanceof mongoose.Document) Object.assign(each, { __index: undefined });
  }
  doc.set(path, elements);
}

/** MongoDB refuses an update of a path and a path below it, so a whole value replaces changes below it. */
export function forgetChanges(doc: Document, prefix: string): void {
  for (const path of doc.directModifiedPaths()) {
    if (path.startsWith(prefix)) doc.unmarkModified(path);
  }
}

interface PathStates {
  getStatePaths(state: "default" | "modify"): Record<string, unknown>;
  clearPath(path: string): void;
  default(path: string): void;
}

type Changes = Record<string, Record<string, unknown>>;

export interface Delta {
  readonly where: Record<string, unknown>;
  readonly changes: Changes;
}

/**
 * Mongoose would write defaults of fields that are not stored, so a PATCH of one field would overwrite another client's
 * value. A default that has changed inside is written whole, because none of it is stored.
 */
export function deltaOf(doc: Document): Delta {
  const states = statesOf(doc);
  const modified = Object.keys(states.getStatePaths("modify"));
  const unsaved: string[] = [];
  for (const path of ownDefaults(doc)) {
    if (modified.some((each) => each.startsWith(`${path}.`))) doc.markModified(path);
    else {
      states.clearPath(path);
      unsaved.push(path);
    }
  }
  const { _id } = doc;
  const tracked = doc as unknown as { $__delta(): [Delta["where"], Changes | null] | undefined };
  const [where = { _id }, changes] = tracked.$__delta() ?? [];
  for (const path of unsaved) states.default(path);
  return { where, changes: changes ?? {} };
}

export function forgetAllChanges(doc: Document): void {
  (doc as unknown as { $__reset(): void }).$__reset();
}

export function ownDefaults(doc: Document): string[] {
  return Object.keys(statesOf(doc).getStatePaths("default"));
}

export function statesOf(doc: Document): PathStates {
  return (doc as unknown as { $__: { activePaths: PathStates } }).$__.activePaths;
}
