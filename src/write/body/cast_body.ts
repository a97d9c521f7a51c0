import type { Problem, Problems } from "../../errors/refusals.ts";
import { isFieldKey, isJsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { isLostInteger, isUnsafeInteger, mayBeRounded } from "../../schema/fields/json_numbers.ts";
import { Double, readBase64 } from "../../schema/mongoose/bson.ts";
import { isDay, valueType } from "../../schema/fields/date_only.ts";
import { namesNoDay } from "../../schema/fields/texts.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";

export interface NamedReference {
  readonly path: string;
  readonly field: FieldShape;
  readonly id: unknown;
}

export class BodyCast {
  readonly #problems: Map<string, Problem>;
  /** `false` for a Mongoose document, which runs the setters itself. */
  readonly #runsSetters: boolean;

  constructor(
    readonly path: string = "",
    readonly references: Map<string, NamedReference> = new Map(),
    { problems = new Map<string, Problem>(), runsSetters = false } = {},
  ) {
    this.#problems = problems;
    this.#runsSetters = runsSetters;
  }

  get hasProblems(): boolean {
    return this.#problems.size > 0;
  }

  get problems(): Problems {
    return Object.fromEntries(this.#problems);
  }

  at(key: string | number): BodyCast {
    return this.#copy(this.#join(String(key)), this.references);
  }

  /** For a value that is checked but not stored, so its references need not exist. */
  ignoringReferences(): BodyCast {
    return this.#copy(this.path, new Map());
  }

  #copy(path: string, references: Map<string, NamedReference>): BodyCast {
    return new BodyCast(path, references, {
      problems: this.#problems,
      runsSetters: this.#runsSetters,
    });
  }

  fields(value: JsonObject, shape: Shape): Record<string, unknown> {
    const fields: [string, unknown][] = [];
    for (const [key, each] of this.writableEntries(value, shape)) {
      if (each === null) continue;
      const cast = this.at(key).value(each, shape.fields.get(key) as FieldShape);
      if (cast !== undefined) fields.push([key, cast]);
    }
    return Object.fromEntries(fields);
  }

  writableEntries(value: JsonObject, { fields, strict }: Shape): [string, unknown][] {
    return Object.entries(value).filter(([key]) => {
      if (PROTOTYPE_KEYS.has(key)) return false;
      const field = fields.get(key);
      if (field === undefined && strict) {
        const path = this.#join(key);
        this.#problems.set(path, { message: `Field "${path}" is unknown`, kind: "strict" });
      }
      return field?.writable === true;
    });
  }

  /** The value must not be `null`. After a failed cast, the result is `undefined`, and `problems` tells why. */
  value(value: unknown, field: FieldShape): unknown {
    switch (field.kind) {
      case "free":
        return this.free(value);
      case "object":
        return isJsonObject(value)
          ? this.fields(value, field.shape as Shape)
          : this.#refuse("Object");
      case "map":
        return isJsonObject(value) ? this.#map(value, field) : this.#refuse("Map");
      case "array":
        return Array.isArray(value)
          ? value.map((each, index) => this.at(index).element(each, field))
          : this.#refuse("Array");
      default:
        return this.#scalar(value, field);
    }
  }

  element(value: unknown, { element }: FieldShape): unknown {
    return element === undefined || value === null ? value : this.value(value, element);
  }

  /** `null` in a merge patch removes a key of an object. An array is replaced with its `null` values. */
  free(value: unknown, inArray = false): unknown {
    if (Array.isArray(value)) {
      return value.map((each, index) => this.at(index).free(each, true));
    }
    if (typeof value === "number" && isInexact(value, "Mixed")) return this.#refuseInexact("Mixed");
    if (typeof value === "string" && !value.isWellFormed()) return this.#refuseText();
    if (!isJsonObject(value)) return value;
    const entries = this.freeEntries(value).filter(([, each]) => inArray || each !== null);
    return Object.fromEntries(
      entries.map(([key, each]) => [key, this.at(key).free(each, inArray)]),
    );
  }

  /** An update of MongoDB could not address a key like `a.b`. */
  freeEntries(value: JsonObject): [string, unknown][] {
    const entries = Object.entries(value).filter(([key]) => !PROTOTYPE_KEYS.has(key));
    for (const [key] of entries) {
      if (key !== "" && isFieldKey(key) && !key.includes(".") && key.isWellFormed()) continue;
      const message = `Key "${key}" is not allowed in "${this.path}"`;
      this.#problems.set(this.path, { message, kind: "key" });
    }
    return entries;
  }

  #scalar(value: unknown, field: FieldShape): unknown {
    const cast = this.#castScalar(value, field);
    if (field.exists && cast !== undefined && cast !== null) {
      this.references.set(this.path, { path: this.path, field, id: cast });
    }
    return cast;
  }

  #castScalar(value: unknown, { type }: FieldShape): unknown {
    const instance = type === undefined ? "Value" : valueType(type);
    // Mongoose casts `{ "$numberDecimal": "1.5" }` of Extended JSON.
    const isDecimal = instance === "Decimal128" && isJsonObject(value) &&
      Object.keys(value).join() === "$numberDecimal";
    if (typeof value === "object" && !isDecimal) return this.#refuse(instance);
    if (isInexact(value, instance)) return this.#refuseInexact(instance);
    if (typeof value === "string") {
      if (!value.isWellFormed()) return this.#refuseText();
      if (instance === "Date" && namesNoDay(value)) return this.#refuse(instance);
    }
    if (instance === "DateOnly" && value !== "" && !isDay(value)) return this.#refuse(instance);
    if (instance === "Buffer") return readBase64(value) ?? this.#refuse(instance);
    try {
      const given: unknown = type?.cast(value, null as never, false);
      const cast = this.#runsSetters && type ? castForQuery(type, given) : given;
      // JSON shows infinite numbers and NaN as `null`.
      if (!isEndless(cast)) return cast;
    } catch {
      // The value is refused below.
    }
    return this.#refuse(instance);
  }

  #map(value: JsonObject, field: FieldShape): Record<string, unknown> {
    const entries = this.freeEntries(value).filter(([, each]) => each !== null);
    return Object.fromEntries(
      entries.map(([key, each]) => [key, this.at(key).element(each, field)]),
    );
  }

  #refuse(kind: string): undefined {
    const { path } = this;
    this.#problems.set(path, { message: `Value at "${path}" cannot be read as ${kind}`, kind });
    return undefined;
  }

  #refuseInexact(kind: string): undefined {
    const { path } = this;
    this.#problems.set(path, inexactNumber(path, kind));
    return undefined;
  }

  /** The database would store another string for half of a surrogate pair. */
  #refuseText(): undefined {
    const { path } = this;
    const message = `Text at "${path}" holds half of a surrogate pair`;
    this.#problems.set(path, { message, kind: "unicode" });
    return undefined;
  }

  #join(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }
}

export function inexactNumber(path: string, kind: string): Problem {
  const advice = DOUBLES.has(kind)
    ? "the field holds about 15 digits"
    : `send numbers beyond 2^53 as text, such as "9007199254740993"`;
  return { message: `Number at "${path}" is not read exactly: ${advice}`, kind };
}

/** JavaScript rounds large numbers, so a body sends them to these fields as strings. */
const EXACT_TYPES: ReadonlySet<string> = new Set(["BigInt", "Decimal128"]);
const DOUBLES: ReadonlySet<string> = new Set(["Number", "Double"]);

function isInexact(value: unknown, type: string): boolean {
  if (typeof value === "string") return DOUBLES.has(type) && isLostInteger(value.trim());
  if (typeof value !== "number") return false;
  if (!Number.isFinite(value)) return true;
  return EXACT_TYPES.has(type) ? isUnsafeInteger(value) : mayBeRounded(value);
}

function isEndless(cast: unknown): boolean {
  const value: unknown = cast instanceof Double ? cast.valueOf() : cast;
  return typeof value === "number" && !Number.isFinite(value);
}
