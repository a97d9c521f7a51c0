import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { SchemaType } from "mongoose";
import { toJson } from "../../../json/to_json.ts";
import { ANY } from "../../../json/transcode/plan.ts";
import type { Default, FieldPlan, Plan, ValuePlan } from "../../../json/transcode/plan.ts";
import {
  defaultOf,
  hasDefault,
  hasEmptyDefault,
  rawDefault,
} from "../../../schema/mongoose/internals.ts";
import { embeds, projected } from "../../../filter/projection/projected.ts";
import { projectionOf } from "../../../filter/projection/projection_of.ts";
import type { Projection, Shows } from "../../../filter/projection/projected.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";

const { Types } = mongoose.Schema;

const DOUBLE = 1 << 0x01;
const OBJECT = 1 << 0x03;
const ARRAY = 1 << 0x04;
const BINARY = 1 << 0x05;
const NULL = 1 << 0x0a;
const INT32 = 1 << 0x10;
const INT64 = 1 << 0x12;

/**
 * What is stored of Mongoose's types when it is as it should be: anything else is cast, or left out, and a type of
 * the user's own may do whatever it wants.
 */
const SCALARS = new Map<unknown, ValuePlan>([
  [Types.String, { types: NULL | 1 << 0x02 }],
  [Types.Number, { types: NULL | DOUBLE | INT32 | INT64 }],
  [Types.Double, { types: NULL | DOUBLE | INT32 }],
  [Types.Int32, { types: NULL | INT32 }],
  [Types.Boolean, { types: NULL | 1 << 0x08 }],
  [Types.Date, { types: NULL | 1 << 0x09 }],
  [Types.BigInt, { types: NULL | INT32 | INT64 }],
  [Types.ObjectId, { types: NULL | 1 << 0x07 }],
  [Types.Decimal128, { types: NULL | 1 << 0x13 }],
  [Types.UUID, { types: NULL | BINARY, bytes: "uuid" }],
  [Types.Buffer, { types: NULL | BINARY, bytes: "base64" }],
]);

/** Plans on their way: those that are made, and the shapes around the current one. */
interface Planning {
  readonly known: Map<Shape, OpenPlan>;
  readonly around: readonly Shape[];
}

/** A plan that is still being filled. */
interface OpenPlan extends Plan {
  readonly fields: Map<string, FieldPlan>;
  readonly defaults: Default[];
  recursive: boolean;
}

/**
 * Plans how stored documents become JSON without Mongoose: which fields are written, under which key, and what stands
 * for those that are missing. Hidden and unselected fields are not in the plan, so that nothing writes them.
 *
 * @param projection What hooks project, if anything: fields of the root that are shown, or that are not.
 */
export function planJson(shape: Shape, projection: Projection): Plan {
  return planShape(shape, projected(projectionOf(projection, shape)), {
    known: new Map(),
    around: [],
  });
}

function planShape(
  shape: Shape,
  shows: Shows,
  { known, around }: Planning,
): Plan {
  const plan: OpenPlan = { fields: new Map(), defaults: [], recursive: false, order: [] };
  known.set(shape, plan);
  const planning = { known, around: [...around, shape] };
  for (const [name, field] of shape.fields) {
    if (field.hidden || !shows(name, embeds(field))) continue;
    const text = defaultText(name, field);
    const planned: FieldPlan = {
      name: Buffer.from(name),
      key: Buffer.from(`${JSON.stringify(name)}:`),
      expected: text === undefined ? 0 : 1,
      seen: 0,
      ...planValue(field, planning) ?? { types: ANY },
    };
    plan.fields.set(name, planned);
    if (text !== undefined) plan.defaults.push({ field: planned, text });
  }
  return plan;
}

/** Plans a value; `undefined` for one that is free. */
function planValue(field: FieldShape, planning: Planning): ValuePlan | undefined {
  const items = field.element && planValue(field.element, planning);
  switch (field.kind) {
    case "free":
      return undefined;
    case "array":
      return { types: NULL | ARRAY, ...items && { items } };
    case "map":
      return { types: NULL | OBJECT, object: planMap(items ?? { types: ANY }) };
    case "object":
      return { types: NULL | OBJECT, object: planObject(field.shape as Shape, planning) };
    default:
      return SCALARS.get(field.type?.constructor) ?? { types: NULL };
  }
}

function planMap(values: ValuePlan): Plan {
  return { fields: new Map(), defaults: [], recursive: false, order: [], values };
}

function planObject(shape: Shape, planning: Planning): Plan {
  const plan = planning.known.get(shape);
  if (plan === undefined) return planShape(shape, projected(projectionOf({}, shape)), planning);
  const start = planning.around.indexOf(shape);
  for (const within of start < 0 ? [] : planning.around.slice(start)) {
    (planning.known.get(within) as OpenPlan).recursive = true;
  }
  return plan;
}

/** The JSON text of what stands for a missing field; empty where only Mongoose can tell. */
function defaultText(name: string, { type, kind }: FieldShape): Uint8Array | undefined {
  // An embedded object without identifier gets a new one with every read: that one stands for nothing.
  if (!hasDefault(type) || name === "_id") return undefined;
  if (kind === "array" && hasEmptyDefault(type)) return entry(name, "[]");
  const given = rawDefault(type);
  const { set } = type?.options as { set?: unknown };
  const computed = set !== undefined || typeof given === "function" ||
    (typeof given === "object" && given !== null);
  if (computed) return new Uint8Array();
  return entry(name, toJson(defaultOf(type as SchemaType, {} as never)));
}

function entry(name: string, json: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name)}:${json}`);
}
