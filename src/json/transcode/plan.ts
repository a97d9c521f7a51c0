import { Buffer } from "node:buffer";
import { isDateOnly } from "../../schema/fields/date_only.ts";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import { type FieldShape, referenceIn, type Shape } from "../../schema/fields/shape.ts";
import { type StoredAs, storedAs } from "../json_types.ts";
import { fieldToJson } from "../to_json.ts";

/**
 * The rules for converting a stored value from BSON bytes to JSON text without Mongoose, such as the BSON types that
 * its field may have. A value without rules, such as a value in free-form data, is converted by its BSON type alone.
 */
export interface ValuePlan extends StoredAs {
  readonly object?: Plan;
  readonly items?: ValuePlan;
}

/**
 * The bit mask `types` for a field that may store values of any BSON type, so that the type of its value is not
 * checked.
 */
export const ANY = -1;

/**
 * The number of bytes that are reserved in the output before a value is written. The number is enough for a comma and
 * for any value of a fixed size with its quotes.
 */
export const ROOM = 64;

/**
 * The rules for converting a stored object from BSON bytes to JSON text without Mongoose. In an object without such
 * rules, all fields are converted.
 */
export interface Plan {
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly defaults: readonly Default[];
  /**
   * Whether an object may contain an object of the same class, such as a comment with answers. The conversion of the
   * inner object overwrites the numbers that show which fields the outer object has. If a default is missing in the
   * outer object, Mongoose makes the JSON of the document.
   */
  readonly recursive: boolean;
  /**
   * The rules for each value of an object whose keys are data and not names of fields, such as a Map. Missing for an
   * object with declared fields, because each of these fields has separate rules.
   */
  readonly values?: ValuePlan;
  /**
   * The rules of the fields in the order of the last object. The next object most likely has the same order, so the
   * rules of its fields are found without a search.
   */
  readonly order: (FieldPlan | undefined)[];
  /**
   * The running number of the object that is being converted by these rules. Each field that is found in the object
   * notes this number. A field with a smaller number is therefore missing in the object.
   */
  objects: number;
}

export interface FieldPlan extends ValuePlan {
  readonly property: string;
  readonly name: Uint8Array;
  /** The name of the field as JSON text, with quotes and a colon. */
  readonly key: Uint8Array;
  /**
   * `1` for a field with a default, else `0`. The transcoder subtracts the value from the number of expected fields, so
   * that it knows whether a default is missing.
   */
  readonly expected: 0 | 1;
  /**
   * The running number of the last converted object that had the field. If the object that is being converted has
   * another number, the field is missing in it, and the default of the field is written.
   */
  seen: number;
}

export interface Default {
  readonly field: FieldPlan;
  /**
   * The JSON text of the field's name and default, such as `"tags":[]`, which the answer shows for a document without
   * the field. Empty for a default that only Mongoose can compute, so that Mongoose makes the JSON of a document
   * without the field.
   */
  readonly text: Uint8Array;
}

const ARRAY = 1 << 0x04;
const OBJECT = 1 << 0x03;
const NULL = 1 << 0x0a;

interface OpenPlan extends Plan {
  readonly fields: Map<string, FieldPlan>;
  readonly defaults: Default[];
  recursive: boolean;
}

/**
 * Compiles the rules for converting stored documents of a model to JSON text without Mongoose. The rules contain the
 * fields to show, their keys as text, and the defaults of missing fields. Hidden and unselected fields are not in the
 * rules and therefore cannot be shown.
 */
export function planJson(
  shape: Shape,
  shows: (name: string, field: FieldShape) => boolean,
): Plan {
  return new Planner().root(shape, shows);
}

/**
 * Compiles the rules for converting entities of a class, and the objects in them, to JSON text. The rules of each class
 * are compiled once, because a class may embed itself without an end.
 */
class Planner {
  readonly #known = new Map<Shape, OpenPlan>();
  #around: readonly Shape[] = [];

  /**
   * Compiles the rules for converting an entity to JSON text. An object of the same class inside of the entity gets
   * separate rules, because the projection of a read leaves out fields of the entity, and not of that object.
   */
  root(shape: Shape, shows: (name: string, field: FieldShape) => boolean): Plan {
    const plan = openPlan();
    this.#add(plan, { shape, shows });
    return plan;
  }

  #shape(shape: Shape): Plan {
    const plan = openPlan();
    const around = this.#around;
    this.#known.set(shape, plan);
    this.#around = [...around, shape];
    this.#add(plan, { shape, shows: (_, { selected }) => selected });
    this.#around = around;
    return plan;
  }

  #add(
    plan: OpenPlan,
    { shape, shows }: {
      readonly shape: Shape;
      readonly shows: (name: string, field: FieldShape) => boolean;
    },
  ): void {
    for (const [name, field] of shape.fields) {
      if (field.hidden || !shows(name, field)) continue;
      const text = defaultText(name, field);
      const planned: FieldPlan = {
        property: name,
        name: Buffer.from(name),
        key: entry(name, ""),
        expected: text === undefined ? 0 : 1,
        seen: 0,
        ...this.#value(field) ?? { types: ANY },
      };
      plan.fields.set(name, planned);
      if (text !== undefined) plan.defaults.push({ field: planned, text });
    }
  }

  /**
   * Returns the rules for converting the value of a field to JSON text. Returns `undefined` for a free-form value,
   * which may have any BSON type.
   */
  #value(field: FieldShape): ValuePlan | undefined {
    const items = field.element && this.#value(field.element);
    switch (field.kind) {
      case "free":
        return undefined;
      case "array":
        return { types: NULL | ARRAY, ...items && { items } };
      case "map":
        return { types: NULL | OBJECT, object: { ...openPlan(), values: items ?? { types: ANY } } };
      case "object":
        return { types: NULL | OBJECT, object: this.#object(field.shape as Shape) };
      default:
        return storedAs(field.type?.constructor, isDateOnly(field.type));
    }
  }

  #object(shape: Shape): Plan {
    const plan = this.#known.get(shape);
    if (plan === undefined) return this.#shape(shape);
    const start = this.#around.indexOf(shape);
    for (const within of start < 0 ? [] : this.#around.slice(start)) {
      (this.#known.get(within) as OpenPlan).recursive = true;
    }
    return plan;
  }
}

function openPlan(): OpenPlan {
  return { fields: new Map(), defaults: [], recursive: false, order: [], objects: 0 };
}

/**
 * Returns the JSON text of a field's default with its key. Returns an empty text for a default that only Mongoose can
 * compute, and `undefined` if the field has no default.
 */
function defaultText(name: string, field: FieldShape): Uint8Array | undefined {
  const { kind, make } = fieldDefault(field);
  // Mongoose gives an embedded object without an identifier a new identifier at every read, so no default is written
  // for the identifier.
  if (kind === "nothing" || name === "_id") return undefined;
  if (kind !== "constant" || make === undefined) return new Uint8Array();
  const json = JSON.stringify(fieldToJson(make(), field)) ?? "null";
  // The default of a reference is an identifier, which must be replaced by its entity if the client populates the
  // field. The prepared text of a default cannot be replaced, so Mongoose makes the JSON of a document without this
  // field.
  const isNamed = referenceIn(field) !== undefined && json !== "[]" && json !== "null";
  return isNamed ? new Uint8Array() : entry(name, json);
}

function entry(name: string, json: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name)}:${json}`);
}
