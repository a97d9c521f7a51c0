import { Buffer } from "node:buffer";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import { type FieldShape, referenceIn, type Shape } from "../../schema/fields/shape.ts";
import { type StoredAs, storedAs } from "../json_types.ts";
import { toJson } from "../to_json.ts";

/** How the transcoder writes a value. A value without a plan is written as it is stored. */
export interface ValuePlan extends StoredAs {
  readonly object?: Plan;
  readonly items?: ValuePlan;
}

/** The `types` of a value that may be anything. */
export const ANY = -1;

/** Room for a comma and any value of a fixed size, quotes included. */
export const ROOM = 64;

/** How the transcoder writes an object. An object without a plan is written whole. */
export interface Plan {
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly defaults: readonly Default[];
  /** Whether such an object may hold others of its kind. */
  readonly recursive: boolean;
  /** Of an object whose keys are data: the plan of each value. */
  readonly values?: ValuePlan;
  /** The fields in the order in which the last object had them: a guess at the next one. */
  readonly order: (FieldPlan | undefined)[];
  /** How many objects were written by the plan, so that each has a number. */
  objects: number;
}

export interface FieldPlan extends ValuePlan {
  readonly property: string;
  readonly name: Uint8Array;
  /** The name in JSON text, with quotes and colon. */
  readonly key: Uint8Array;
  /** 1 for a field with a default, else 0. */
  readonly expected: 0 | 1;
  /** The number of the object in which the field was last seen. */
  seen: number;
}

export interface Default {
  readonly field: FieldPlan;
  /** The JSON text, key included; empty for a default that only Mongoose can compute. */
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
 * Plans how stored documents become JSON without Mongoose: which fields are written, under which key, and the defaults
 * of those that are missing. Hidden and unselected fields are not in the plan, so that nothing writes them.
 */
export function planJson(
  shape: Shape,
  shows: (name: string, field: FieldShape) => boolean,
): Plan {
  return new Planner().shape(shape, shows);
}

/** Plans a shape and those within it, each once: a model may embed itself. */
class Planner {
  readonly #known = new Map<Shape, OpenPlan>();
  #around: readonly Shape[] = [];

  shape(shape: Shape, shows: (name: string, field: FieldShape) => boolean): Plan {
    const plan: OpenPlan = openPlan();
    const around = this.#around;
    this.#known.set(shape, plan);
    this.#around = [...around, shape];
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
    this.#around = around;
    return plan;
  }

  /** Plans a value; `undefined` for one that is free. */
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
        return storedAs(field.type?.constructor);
    }
  }

  #object(shape: Shape): Plan {
    const plan = this.#known.get(shape);
    if (plan === undefined) return this.shape(shape, (_, { selected }) => selected);
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

/** The JSON text of a default; empty for one that only Mongoose can compute. */
function defaultText(name: string, field: FieldShape): Uint8Array | undefined {
  const { kind, make } = fieldDefault(field);
  // An embedded object without identifier gets a new one with every read: that one is not shown.
  if (kind === "nothing" || name === "_id") return undefined;
  if (kind !== "constant" || make === undefined) return new Uint8Array();
  const json = toJson(make());
  // Where entities stand in the place of identifiers, this one counts.
  const isNamed = referenceIn(field) !== undefined && json !== "[]" && json !== "null";
  return isNamed ? new Uint8Array() : entry(name, json);
}

function entry(name: string, json: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name)}:${json}`);
}
