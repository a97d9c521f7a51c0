import { Buffer } from "node:buffer";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import { referenceIn } from "../../schema/fields/shape.ts";
import { toJson } from "../to_json.ts";
import { storedAs } from "../types/json_types.ts";
import { ANY } from "./plan.ts";
import type { Default, FieldPlan, Plan, ValuePlan } from "./plan.ts";

const ARRAY = 1 << 0x04;
const OBJECT = 1 << 0x03;
const NULL = 1 << 0x0a;

/** A plan that is still being filled. */
interface OpenPlan extends Plan {
  readonly fields: Map<string, FieldPlan>;
  readonly defaults: Default[];
  recursive: boolean;
}

/**
 * Plans how stored documents become JSON without Mongoose: which fields are written, under which key, and the defaults
 * of those that are missing. Hidden and unselected fields are not in the plan, so that nothing writes them.
 *
 * @param shows Whether a field of the root is shown.
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
