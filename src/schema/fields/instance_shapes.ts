import { FrameworkModel, type ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema, isBuilt } from "../build_schema.ts";
import type { Rights } from "./rights.ts";
import { describeShape, type Shape } from "./shape.ts";

const remembered = new WeakMap<object, Shape>();

/** A plain object has no schema, so without this shape a response would show its hidden fields. */
export function rememberShape<T extends object>(entity: T, shape: Shape): T {
  remembered.set(entity, shape);
  return entity;
}

export function isInstance(value: object): boolean {
  return value instanceof FrameworkModel;
}

export function shapeOfInstance(value: object, rights: Rights): Shape | undefined {
  if (!isInstance(value)) return remembered.get(value)?.under(rights);
  return describeShape(buildSchema(modelClassOf(value)).schema, rights);
}

/** A subclass without a schema has the hidden fields of its nearest ancestor with a schema. */
function modelClassOf(value: object): ModelClass {
  const own = (Object.getPrototypeOf(value) as object).constructor as ModelClass;
  for (let each = own; typeof each === "function"; each = Object.getPrototypeOf(each)) {
    if (isBuilt(each)) return each;
  }
  return own;
}
