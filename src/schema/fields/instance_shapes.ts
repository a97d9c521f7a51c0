import { FrameworkModel, type ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema, isBuilt } from "../build_schema.ts";
import type { Rights } from "./rights.ts";
import { describeShape, type Shape } from "./shape.ts";

const remembered = new WeakMap<object, Shape>();

/**
 * For a plain object that a hook gave as an entity. It has neither a class nor a schema, so a response could not find
 * its hidden fields.
 */
export function rememberShape<T extends object>(entity: T, shape: Shape): T {
  remembered.set(entity, shape);
  return entity;
}

export function isInstance(value: object): boolean {
  return value instanceof FrameworkModel;
}

/**
 * `undefined` for an object that is no instance and that {@linkcode rememberShape} has not seen. A response hides its
 * fields by the shape of the route only.
 */
export function shapeOfInstance(value: object, rights: Rights): Shape | undefined {
  if (!isInstance(value)) return remembered.get(value)?.under(rights);
  return describeShape(buildSchema(modelClassOf(value)).schema, rights);
}

/**
 * A subclass without a schema is a view that the application defines, so the schema of its ancestor decides which
 * fields are hidden.
 */
function modelClassOf(value: object): ModelClass {
  const own = (Object.getPrototypeOf(value) as object).constructor as ModelClass;
  for (let each = own; typeof each === "function"; each = Object.getPrototypeOf(each)) {
    if (isBuilt(each)) return each;
  }
  return own;
}
