import { FrameworkModel, type ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema, isBuilt } from "../build_schema.ts";
import type { Rights } from "./rights.ts";
import { describeShape, type Shape } from "./shape.ts";

const remembered = new WeakMap<object, Shape>();

/**
 * Records the model of a plain object that a hook gave as an entity, such as an entity of another database. The object
 * has neither a class nor a schema, so a response could not find its hidden fields without this record.
 */
export function rememberShape<T extends object>(entity: T, shape: Shape): T {
  remembered.set(entity, shape);
  return entity;
}

export function isInstance(value: object): boolean {
  return value instanceof FrameworkModel;
}

/**
 * Returns the shape of an instance of a model class or of an object that {@linkcode rememberShape} has seen, so that a
 * response can hide its hidden fields. Returns `undefined` for any other object. A response hides fields of such an
 * object by the shape of the route only.
 */
export function shapeOfInstance(value: object, rights: Rights): Shape | undefined {
  if (!isInstance(value)) return remembered.get(value)?.under(rights);
  return describeShape(buildSchema(modelClassOf(value)).schema, rights);
}

/**
 * Returns the nearest class of an object that has a built schema, which is the class of the object or an ancestor of
 * that class. A subclass without a schema is a view that the application defines, so the schema of the ancestor decides
 * which fields are hidden.
 */
function modelClassOf(value: object): ModelClass {
  const own = (Object.getPrototypeOf(value) as object).constructor as ModelClass;
  for (let each = own; typeof each === "function"; each = Object.getPrototypeOf(each)) {
    if (isBuilt(each)) return each;
  }
  return own;
}
