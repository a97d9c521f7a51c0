import { isDeepStrictEqual } from "node:util";
import type { Problem, Problems } from "../../errors/refusals.ts";
import { isJsonObject, type JsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isOfJsonType, STRICT_TYPES } from "../../schema/fields/strict_types.ts";
import { strictestField, whyUnseen } from "../../schema/fields/visibility.ts";
import { hasOwnJson } from "../../schema/mongoose/documents/hide_in_json.ts";
import { hasOwnCast, isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

/** The place of a strict body, and the entity with which its read-only keys are compared. */
export interface StrictPlace {
  readonly shape: Shape;
  /**
   * The JSON of the stored entity. A visible key that the caller cannot set is accepted if it has the value of this
   * JSON. Missing for a new entity, and while the entity has not been read.
   */
  readonly stored?: JsonObject | undefined;
  /** Whether the entity is embedded in another entity, so that it has no version. */
  readonly isEmbedded: boolean;
  /** The key that the path of the request has set already, so that the value in the body is not checked. */
  readonly key?: string | undefined;
}

export interface StrictVerdict {
  /** The problems of the body, by path. Empty if strict bodies may have all its keys and values. */
  readonly problems: Problems;
  /** Whether the body has visible keys that the caller cannot set, which only the stored entity can allow. */
  readonly needsStored: boolean;
  /** Whether the body has a version that is not the version of the stored entity. */
  readonly isStale: boolean;
}

/**
 * Checks a body by the rules of `initialize({ bodies: "strict" })`, before its values are cast. Unknown keys, keys that
 * the caller cannot set, and values of another JSON type than their field are problems.
 */
export function checkStrictBody(body: JsonObject, place: StrictPlace): StrictVerdict {
  const check = new StrictCheck(place.key);
  check.object(body, { ...place, path: "" });
  const { problems, needsStored, isStale } = check;
  return { problems: Object.fromEntries(problems), needsStored, isStale };
}

interface ObjectPlace extends Pick<StrictPlace, "shape" | "stored" | "isEmbedded"> {
  readonly path: string;
}

interface ValuePlace {
  readonly field: FieldShape;
  readonly path: string;
  /** The JSON of the stored value, for the read-only keys inside of the value. */
  readonly stored: unknown;
}

class StrictCheck {
  readonly problems = new Map<string, Problem>();
  needsStored = false;
  isStale = false;
  readonly #key: string | undefined;

  constructor(key: string | undefined) {
    this.#key = key;
  }

  object(value: JsonObject, place: ObjectPlace): void {
    const { path: at, stored } = place;
    for (const [key, each] of Object.entries(value)) {
      if (at === "" && key === this.#key) continue;
      const path = at === "" ? rootPath(key) : `${at}.${key}`;
      const field = fieldOf(key, place);
      if (field?.writable !== true) this.#unsettable(key, each, { ...place, field, path });
      else if (each !== null) this.#value(each, { field, path, stored: memberOf(stored, key) });
    }
  }

  #value(value: unknown, { field, path, stored }: ValuePlace): void {
    const { kind, shape, element } = field;
    const isObject = isJsonObject(value);
    if (kind === "object") {
      if (!isObject || shape === undefined) return;
      const isEmbedded = shape.schema !== undefined;
      return this.object(value, { shape, path, stored: objectOf(stored), isEmbedded });
    }
    if (kind === "array" && element !== undefined) {
      if (Array.isArray(value)) this.#elements(value, { field: element, path, stored });
    } else if (kind === "map" && element !== undefined) {
      for (const [key, each] of isObject ? Object.entries(value) : []) {
        const place = { field: element, path: `${path}.${key}`, stored: memberOf(stored, key) };
        if (each !== null) this.#value(each, place);
      }
    } else if (kind === "scalar") {
      const problem = typeProblem(value, { field, path });
      if (problem !== undefined) this.problems.set(path, problem);
    }
  }

  /**
   * Checks the elements of an array. An element with the `_id` of a stored element is compared with that element,
   * because a write keeps the read-only values of such an element.
   */
  #elements(list: readonly unknown[], { field, path, stored }: ValuePlace): void {
    const known = new Map<string, unknown>();
    for (const each of Array.isArray(stored) ? stored : []) {
      if (isJsonObject(each) && each._id !== undefined) known.set(String(each._id), each);
    }
    for (const [index, each] of list.entries()) {
      if (each === null) continue;
      const id = isJsonObject(each) ? String(each._id) : "";
      this.#value(each, { field, path: `${path}.${index}`, stored: known.get(id) });
      known.delete(id);
    }
  }

  /** Checks a key that the caller cannot set. A visible key may have the stored value. */
  #unsettable(
    key: string,
    value: unknown,
    { field, shape, stored, isEmbedded, path }: ObjectPlace & {
      readonly field: FieldShape | undefined;
    },
  ): void {
    const isShown = field === undefined ? makesJson(shape) : whyUnseen(field) === undefined;
    const isVersion = !isEmbedded && key === shape.schema?.get("versionKey");
    if (isShown) {
      this.needsStored = true;
      const isKnown = field !== undefined || memberOf(stored, key) !== undefined;
      if (isKnown && stored !== undefined) {
        if (isDeepStrictEqual(memberOf(stored, key) ?? null, value)) return;
        this.isStale ||= isVersion && typeof value === "number";
      }
      if (isKnown) {
        const message = `Field "${path}" cannot be set`;
        return void this.problems.set(path, { message, kind: "readonly" });
      }
    }
    if (shape.isOpen) return;
    this.problems.set(path, { message: `Field "${path || key}" is unknown`, kind: "unknown" });
  }
}

/**
 * Returns the problem of a scalar value that has another JSON type than its field. Returns `undefined` if the cast
 * decides about the value.
 */
export function typeProblem(
  value: unknown,
  { field: { type }, path }: Pick<ValuePlace, "field" | "path">,
): Problem | undefined {
  // The application decides which values a type with a cast of the application takes.
  if (type === undefined || !isMongooseType(type) || hasOwnCast(type)) return undefined;
  const { instance } = type;
  const { words } = STRICT_TYPES[instance] ?? {};
  if (words === undefined || isOfJsonType(value, instance)) return undefined;
  const message = `Value at "${path}" cannot be read as ${instance}: send ${words}`;
  return { message, kind: instance };
}

/**
 * Returns the field of a key. A field that only a kind (discriminator) of the shape has cannot be set, and is visible
 * in entities of this kind. An embedded object has no version.
 */
function fieldOf(key: string, { shape, isEmbedded }: ObjectPlace): FieldShape | undefined {
  if (isEmbedded && key === shape.schema?.get("versionKey")) return undefined;
  const own = shape.fields.get(key);
  const ofKind = own === undefined ? strictestField(key, shape) : undefined;
  return own ?? (ofKind && { ...ofKind, writable: false });
}

/** Returns the path of a key of the body. Answers leave out prototype keys, so such a key has the path of the body. */
function rootPath(key: string): string {
  return PROTOTYPE_KEYS.has(key) ? "" : key;
}

/** Whether the application makes the JSON of an entity, so that answers may show keys that the model does not declare. */
function makesJson({ schema }: Shape): boolean {
  return schema !== undefined && hasOwnJson(schema);
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function objectOf(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
