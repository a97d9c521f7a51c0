import { Buffer } from "node:buffer";
import { isDateOnly } from "../../schema/fields/date_only.ts";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import { type FieldShape, referenceIn, type Shape } from "../../schema/fields/shape.ts";
import { type StoredAs, storedAs } from "../json_types.ts";
import { fieldToJson } from "../to_json.ts";

export interface ValuePlan extends StoredAs {
  readonly object?: Plan;
  readonly items?: ValuePlan;
}

/** The mask of a value whose BSON type is not checked. */
export const ANY = -1;

/** The bytes to reserve for a comma and any value of a fixed size with its quotes. */
export const ROOM = 64;

export interface Plan {
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly defaults: readonly Default[];
  /**
   * An inner object of the same class overwrites `lastObject`. It is then unknown which fields are missing, so Mongoose
   * writes a document that lacks defaults.
   */
  readonly recursive: boolean;
  /** Set for a Map, whose keys are data instead of field names. */
  readonly values?: ValuePlan;
  /** The field order of the last object, which the next most likely has too. */
  readonly order: (FieldPlan | undefined)[];
  /** Counts objects. A field with a smaller `lastObject` is missing in the current object. */
  objects: number;
}

export interface FieldPlan extends ValuePlan {
  readonly property: string;
  readonly name: Uint8Array;
  readonly key: Uint8Array;
  /** 1 for a field with a default. The sum tells whether a default is missing. */
  readonly expected: 0 | 1;
  /** The number of the last object that had the field. */
  lastObject: number;
}

export interface Default {
  readonly field: FieldPlan;
  /** The text is empty if only Mongoose can compute the default. */
  readonly text: Uint8Array;
}

const ARRAY = 1 << 0x04;
const OBJECT = 1 << 0x03;
const NULL = 1 << 0x0a;

interface UnfinishedPlan extends Plan {
  readonly fields: Map<string, FieldPlan>;
  readonly defaults: Default[];
  recursive: boolean;
}

/** The plan lacks hidden fields and fields that `shows` refuses, so the JSON cannot show them. */
export function planJson(
  shape: Shape,
  shows: (name: string, field: FieldShape) => boolean,
): Plan {
  return new Planner().root(shape, shows);
}

/** Each class is compiled once, because it may embed itself. */
class Planner {
  readonly #plans = new Map<Shape, UnfinishedPlan>();
  #around: readonly Shape[] = [];

  /** The projection applies to the entity, but not to an object of the same class inside of it. */
  root(shape: Shape, shows: (name: string, field: FieldShape) => boolean): Plan {
    const plan = emptyPlan();
    this.#add(plan, { shape, shows });
    return plan;
  }

  #shape(shape: Shape): Plan {
    const plan = emptyPlan();
    const around = this.#around;
    this.#plans.set(shape, plan);
    this.#around = [...around, shape];
    this.#add(plan, { shape, shows: (_, { selected }) => selected });
    this.#around = around;
    return plan;
  }

  #add(
    plan: UnfinishedPlan,
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
        lastObject: 0,
        ...this.#value(field) ?? { types: ANY },
      };
      plan.fields.set(name, planned);
      if (text !== undefined) plan.defaults.push({ field: planned, text });
    }
  }

  #value(field: FieldShape): ValuePlan | undefined {
    const items = field.element && this.#value(field.element);
    switch (field.kind) {
      case "free":
        return undefined;
      case "array":
        return { types: NULL | ARRAY, ...items && { items } };
      case "map":
        return {
          types: NULL | OBJECT,
          object: { ...emptyPlan(), values: items ?? { types: ANY } },
        };
      case "object":
        return { types: NULL | OBJECT, object: this.#object(field.shape as Shape) };
      default:
        return storedAs(field.type?.constructor, isDateOnly(field.type));
    }
  }

  #object(shape: Shape): Plan {
    const plan = this.#plans.get(shape);
    if (plan === undefined) return this.#shape(shape);
    const start = this.#around.indexOf(shape);
    for (const within of start < 0 ? [] : this.#around.slice(start)) {
      (this.#plans.get(within) as UnfinishedPlan).recursive = true;
    }
    return plan;
  }
}

function emptyPlan(): UnfinishedPlan {
  return { fields: new Map(), defaults: [], recursive: false, order: [], objects: 0 };
}

function defaultText(name: string, field: FieldShape): Uint8Array | undefined {
  const { kind, make } = fieldDefault(field);
  // A missing `_id` gets no default, because Mongoose generates another one at every read.
  if (kind === "nothing" || name === "_id") return undefined;
  if (kind !== "constant" || make === undefined) return new Uint8Array();
  const json = JSON.stringify(fieldToJson(make(), field)) ?? "null";
  // `populate` cannot replace an identifier in a prepared default, so Mongoose writes the document.
  const isNamed = referenceIn(field) !== undefined && json !== "[]" && json !== "null";
  return isNamed ? new Uint8Array() : entry(name, json);
}

function entry(name: string, json: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name)}:${json}`);
}
