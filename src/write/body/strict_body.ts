import { isDeepStrictEqual } from "node:util";
import type { Problem, Problems } from "../../errors/refusals.ts";
import { isJsonObject, type JsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { valueType } from "../../schema/fields/date_only.ts";
import { isOfJsonType, STRICT_TYPES } from "../../schema/fields/strict_types.ts";
import { isSetOnce, strictestField, whyUnseen } from "../../schema/fields/visibility.ts";
import { hasOwnJson } from "../../schema/mongoose/documents/hide_in_json.ts";
import { identifierText } from "./merge_target.ts";
import { hasOwnCast, isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

export interface StrictPlace {
  readonly shape: Shape;
  /** Missing for a new entity, and before the entity was read. */
  readonly stored?: JsonObject | undefined;
  readonly isEmbedded: boolean;
  /** The field in the URL's path. Its value in the body was compared with the URL already. */
  readonly key?: string | undefined;
  readonly isNew?: boolean;
}

export interface StrictVerdict {
  readonly problems: Problems;
  readonly needsStored: boolean;
  readonly isStale: boolean;
}

/** This check runs before the cast, which would accept `"5"` for a number. */
export function checkStrictBody(body: JsonObject, place: StrictPlace): StrictVerdict {
  const check = new StrictCheck(place);
  check.object(body, { isNew: false, ...place, path: "" });
  const { problems, needsStored, isStale } = check;
  return { problems: Object.fromEntries(problems), needsStored, isStale };
}

interface ObjectPlace extends Pick<StrictPlace, "shape" | "stored" | "isEmbedded"> {
  readonly path: string;
  readonly isNew: boolean;
}

interface ValuePlace {
  readonly field: FieldShape;
  readonly path: string;
  readonly stored: unknown;
  readonly isNew: boolean;
}

class StrictCheck {
  readonly problems = new Map<string, Problem>();
  needsStored = false;
  isStale = false;
  readonly #key: string | undefined;
  readonly #isRead: boolean;

  constructor({ key, stored }: StrictPlace) {
    this.#key = key;
    this.#isRead = stored !== undefined;
  }

  object(value: JsonObject, place: ObjectPlace): void {
    const { path: at, stored, isNew } = place;
    for (const [key, each] of Object.entries(value)) {
      if (at === "" && key === this.#key) continue;
      const path = at === "" ? rootPath(key) : `${at}.${key}`;
      const field = fieldOf(key, place);
      if (field?.writable !== true || !isNew && (path === "_id" || isSetOnce(field))) {
        this.#unsettable(key, each, { ...place, field, path });
      } else if (each !== null) {
        this.#value(each, { field, path, stored: memberOf(stored, key), isNew });
      }
    }
  }

  #value(value: unknown, { field, path, stored, isNew }: ValuePlace): void {
    const { kind, shape, element } = field;
    const isObject = isJsonObject(value);
    if (kind === "object") {
      if (!isObject || shape === undefined) return;
      const isEmbedded = shape.schema !== undefined;
      return this.object(value, { shape, path, stored: objectOf(stored), isEmbedded, isNew });
    }
    if (kind === "array" && element !== undefined) {
      if (Array.isArray(value)) this.#elements(value, { field: element, path, stored, isNew });
    } else if (kind === "map" && element !== undefined) {
      for (const [key, each] of isObject ? Object.entries(value) : []) {
        const inside = { path: `${path}.${key}`, stored: memberOf(stored, key) };
        const place = { field: element, ...inside, isNew };
        if (each !== null) this.#value(each, place);
      }
    } else if (kind === "scalar") {
      const problem = typeProblem(value, { field, path });
      if (problem !== undefined) this.problems.set(path, problem);
    }
  }

  /** A write keeps the read-only values of a stored element with the same `_id`, so the body may repeat them. */
  #elements(list: readonly unknown[], { field, path, stored, isNew }: ValuePlace): void {
    const byId = new Map<string, unknown>();
    for (const each of Array.isArray(stored) ? stored : []) {
      if (isJsonObject(each) && each._id !== undefined) byId.set(String(each._id), each);
    }
    for (const [index, each] of list.entries()) {
      if (each === null) continue;
      const id = isJsonObject(each) ? identifierText(each._id) : "";
      const known = byId.get(id);
      const isAdded = isNew || known === undefined && this.#isRead;
      this.#value(each, { field, path: `${path}.${index}`, stored: known, isNew: isAdded });
      byId.delete(id);
    }
  }

  /** A readable key is accepted with its stored value, so that a client may send back a whole entity. */
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

export function typeProblem(
  value: unknown,
  { field: { type }, path }: Pick<ValuePlace, "field" | "path">,
): Problem | undefined {
  // The application casts values of custom types, so any JSON type may be right.
  if (type === undefined || !isMongooseType(type) || hasOwnCast(type)) return undefined;
  const instance = valueType(type);
  const { words } = STRICT_TYPES[instance] ?? {};
  if (words === undefined || isOfJsonType(value, instance)) return undefined;
  const message = `Value at "${path}" cannot be read as ${instance}: send ${words}`;
  return { message, kind: instance };
}

/**
 * A discriminator's field cannot be set through the base model. Embedded objects have no version, so a version key is
 * undeclared there.
 */
function fieldOf(key: string, { shape, isEmbedded }: ObjectPlace): FieldShape | undefined {
  if (isEmbedded && key === shape.schema?.get("versionKey")) return undefined;
  const own = shape.fields.get(key);
  const ofKind = own === undefined ? strictestField(key, shape) : undefined;
  return own ?? (ofKind && { ...ofKind, writable: false });
}

/** Answers must not contain keys like `__proto__`, so their problem gets the path of the whole body. */
function rootPath(key: string): string {
  return PROTOTYPE_KEYS.has(key) ? "" : key;
}

/** The application's `toJSON` may show undeclared keys, which a client may send back. */
function makesJson({ schema }: Shape): boolean {
  return schema !== undefined && hasOwnJson(schema);
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function objectOf(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
