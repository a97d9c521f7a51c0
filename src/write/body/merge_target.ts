import type { Schema } from "mongoose";
import { FIELD_OPTIONS } from "../../declare/options.ts";
import { topOf } from "../../filter/filters.ts";
import { toJson } from "../../json/to_json.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import { clearedValue, fieldDefault, initialValue } from "../../schema/fields/field_default.ts";
import { describeShape, type FieldShape, type Shape } from "../../schema/fields/shape.ts";
import { isInstance } from "../../schema/fields/instance_shapes.ts";
import { isClearable, isProtected } from "../../schema/fields/visibility.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/document_values.ts";
import { isAlwaysRequired } from "../../schema/mongoose/schemas/field_rules.ts";
import { pendingProblems } from "../../schema/mongoose/statements/filter_errors.ts";
import type { BodyCast } from "./cast_body.ts";

export interface MergeStep {
  readonly cast: BodyCast;
  /** Fields that the body leaves out are cleared, as in array elements, because a merge patch replaces arrays. */
  readonly whole?: boolean;
  /** Fields that the body leaves out get their values of a new entity. */
  readonly replaces?: boolean;
  /** `true` for a new plain object, whose immutable fields can be set. */
  readonly isNew?: boolean;
  /** The key is data, as in a Map, so clearing the value removes it. */
  readonly isEntry?: boolean;
  /** Gets each path that the body sets. Missing below an array, which is set as a whole. */
  readonly noteSet?: (path: string) => void;
}

/** Fields that a client cannot see or cannot set survive a JSON merge patch, even in a cleared object. */
export abstract class MergeTarget {
  constructor(protected readonly step: MergeStep) {}

  protected abstract read(): unknown;

  protected abstract write(value: unknown): void;

  protected abstract open(isEntry: boolean): (name: string) => MergeTarget;

  protected abstract elements(list: readonly unknown[]): (index: number) => MergeTarget;

  protected abstract keys(): readonly string[] | undefined;

  protected abstract readonly holder: object;

  protected cleared(field: FieldShape): unknown {
    return clearedValue(this.holder, field);
  }

  protected abstract isLocked(field: FieldShape): boolean;

  merge(value: unknown, field: FieldShape): void {
    if (value === null) return this.#clear(field);
    if (this.#mergesInto(value, field)) return;
    const { cast } = this.step;
    const used = this.isLocked(field) ? cast.ignoringReferences() : cast;
    const result = used.value(value, field);
    if (result === undefined) return;
    this.write(this.step.whole && isFree(field) ? withStored(result, this.read()) : result);
  }

  mergeFields(patch: JsonObject, shape: Shape): void {
    const member = this.open(false);
    const given = new Map(this.step.cast.writableEntries(patch, shape));
    for (const [name, value] of given) {
      const [target, field] = [member(name), shape.fields.get(name) as FieldShape];
      // With another `_id` from the body, Mongoose would search for another stored entity.
      if (name !== "_id" || !target.isLocked(field)) target.merge(value, field);
    }
    if (!this.step.whole) return;
    for (const [name, field] of shape.fields) {
      if (given.has(name) || !isClearable(field)) continue;
      const target = member(name);
      if (!target.isLocked(field)) target.#clear(field, true);
    }
  }

  protected mergeFree(patch: JsonObject, field: FieldShape): void {
    this.#mergeEntries(patch, field);
  }

  /** Elements with a stored `_id` keep their hidden and read-only fields. */
  protected mergeElements(list: readonly unknown[], field: FieldShape): boolean {
    const { kind, shape } = field.element as FieldShape;
    const current = this.read();
    if (!Array.isArray(current) || kind !== "object") return false;
    const { cast } = this.step;
    const named = elementsNamed(list, current);
    if (named.size === 0) return false;
    const all = list.map((each, index) => named.get(index) ?? cast.at(index).element(each, field));
    if (cast.hasProblems) return false;
    const element = this.elements(all);
    for (const index of named.keys()) {
      element(index).mergeFields(list[index] as JsonObject, shape as Shape);
    }
    return true;
  }

  /** `false` means that the caller must replace the stored value. */
  #mergesInto(value: unknown, field: FieldShape): boolean {
    const { kind, type, element, shape } = field;
    if (this.isLocked(field)) return false;
    if (Array.isArray(value)) return kind === "array" && this.mergeElements(value, field);
    if (!isJsonObject(value)) return false;
    const current = this.read();
    const isEmbedded = isDocument(this.holder) && type !== undefined;
    if (kind === "object" && (isEmbedded ? isDocument(current) : isObject(current))) {
      this.mergeFields(value, shape as Shape);
    } else if (kind === "map" && this.keys() !== undefined && !this.#isReplaced(field)) {
      this.#mergeEntries(value, element as FieldShape);
    } else if (kind === "free" && isJsonObject(current) && !this.step.whole) {
      this.mergeFree(value, field);
    } else return false;
    return true;
  }

  #mergeEntries(patch: JsonObject, element: FieldShape): void {
    const { cast, whole } = this.step;
    const entry = this.open(true);
    for (const [key, value] of cast.freeEntries(patch)) {
      // After a wrong value, the others are only cast, so that the answer names every wrong one.
      if (!cast.hasProblems) entry(key).merge(value, element);
      else if (value !== null) cast.at(key).value(value, element);
    }
    for (const key of whole ? this.keys() ?? [] : []) {
      if (!Object.hasOwn(patch, key)) entry(key).#clear(element);
    }
  }

  #clear(field: FieldShape, isLeftOut = false): void {
    const { element, shape, type } = field;
    // A nested path has no default, but its fields may have one, so a PUT clears each.
    const isOpened = isLeftOut && type === undefined && shape !== undefined;
    if (!isOpened && !this.#mustStay(field)) {
      if (this.step.isEntry) return this.write(undefined);
      return this.write(isLeftOut ? initialValue(this.holder, field) : this.cleared(field));
    }
    const member = this.open(element !== undefined);
    if (element !== undefined) { for (const key of this.keys() ?? []) member(key).#clear(element); }
    for (const [name, inner] of shape?.fields ?? []) {
      if (isClearable(inner)) member(name).#clear(inner, isLeftOut);
    }
  }

  /** A PUT replaces a Map, except a Map of objects, which may have fields that must stay. */
  #isReplaced({ element }: FieldShape): boolean {
    return this.step.replaces === true && element?.kind !== "object";
  }

  #mustStay(field: FieldShape): boolean {
    return !isAlwaysRequired(field.type) && !this.isLocked(field) &&
      holdsProtected(this.read(), field);
  }
}

function isFree({ kind, element }: FieldShape): boolean {
  return kind === "free" || element !== undefined && isFree(element);
}

/** A client that sends an entity back would turn a stored date in free-form data into a string. */
function withStored(given: unknown, stored: unknown): unknown {
  if (typeof stored !== "object" || stored === null) return given;
  if (typeof given === "string") return toJson(stored) === toJson(given) ? stored : given;
  if (Array.isArray(given)) {
    return Array.isArray(stored) ? given.map((each, at) => withStored(each, stored[at])) : given;
  }
  if (!isJsonObject(given)) return given;
  const values = valuesOf(stored) ?? {};
  return Object.fromEntries(
    Object.entries(given).map((
      [key, each],
    ) => [key, withStored(each, Object.hasOwn(values, key) ? values[key] : undefined)]),
  );
}

function elementsNamed(list: readonly unknown[], current: readonly unknown[]) {
  const byId = new Map(current.filter(isIdentified).map((each) => [String(each._id), each]));
  const named = new Map<number, unknown>();
  for (const [index, each] of list.entries()) {
    const id = isJsonObject(each) ? identifierText(each._id) : "";
    const element = byId.get(id);
    if (element !== undefined) named.set(index, element);
    byId.delete(id);
  }
  return named;
}

/** The empty string names no element. `String()` would throw for `{ toString: 1 }`. */
export function identifierText(given: unknown): string {
  return typeof given === "object" ? "" : String(given);
}

function isIdentified(value: unknown): value is { readonly _id: unknown } {
  if (!isDocument(value) && !isObject(value)) return false;
  return value._id !== undefined && value._id !== null;
}

/** The hook `fetch` may return instances of model classes, which are no plain objects. */
function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value) || typeof value === "object" && value !== null && isInstance(value);
}

/**
 * A stored value that Mongoose could not cast is missing in the document, so its field is found by the pending
 * problems.
 */
function holdsProtected(value: unknown, field: FieldShape): boolean {
  const { kind, element, shape } = field;
  const values = valuesOf(value) ?? {};
  if (kind === "map" && element !== undefined) {
    return Object.values(values).some((each) => holdsProtected(each, element));
  }
  const own = isDocument(value) && shape
    ? describeShape(value.schema as Schema, shape.rights)
    : shape;
  const uncast = isDocument(value) ? Object.keys(pendingProblems(value)).map(topOf) : [];
  return kind === "object" && [...own?.fields ?? []].some(([name, inner]) => {
    const each = Object.hasOwn(values, name) ? values[name] : undefined;
    if (isOfFeature(inner)) return false;
    if (each === undefined || each === null) return uncast.includes(name) && isProtected(inner);
    return isProtected(inner) ? !isDefault(each, inner) : holdsProtected(each, inner);
  });
}

/** A field that a feature writes, such as a time, means nothing without its object, so it is cleared too. */
function isOfFeature({ type }: FieldShape): boolean {
  const options: Readonly<Record<string, unknown>> = type?.options ?? {};
  return Object.entries(FIELD_OPTIONS).some(([name, implied]) => {
    const { readonly, managed } = Object.hasOwn(options, name) ? implied(options[name]) : {};
    return readonly === true || managed === true;
  });
}

function valuesOf(value: unknown): Record<string, unknown> | undefined {
  if (isDocument(value)) return rawValues(value);
  if (value instanceof Map) return Object.fromEntries(value);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : undefined;
}

function isDefault(value: unknown, field: FieldShape): boolean {
  if (field.kind === "array" && Array.isArray(value) && value.length === 0) return true;
  const { kind, given } = fieldDefault(field);
  return kind === "constant" && toJson(value) === toJson(given);
}
