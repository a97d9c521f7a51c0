import { FrameworkModel, type ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema, isBuilt } from "../build_schema.ts";
import type { Rights } from "./rights.ts";
import { describeShape, type Shape } from "./shape.ts";

const remembered = new WeakMap<object, Shape>();

/** Remembers the shape of an entity that has neither a class nor a schema, such as one of another database. */
export function rememberShape<T extends object>(entity: T, shape: Shape): T {
  remembered.set(entity, shape);
  return entity;
}

export function isInstance(value: object): boolean {
  return value instanceof FrameworkModel;
}

/** Gives the shape of an instance of a model class that is no document, or of a known entity; `undefined` for others. */
export function shapeOfInstance(value: object, rights: Rights): Shape | undefined {
  if (!isInstance(value)) return remembered.get(value)?.under(rights);
  return describeShape(buildSchema(modelClassOf(value)).schema, rights);
}

/** The nearest class that Mongoose knows: a class below it is a view of the host's own. */
function modelClassOf(value: object): ModelClass {
  const own = (Object.getPrototypeOf(value) as object).constructor as ModelClass;
  for (let each = own; typeof each === "function"; each = Object.getPrototypeOf(each)) {
    if (isBuilt(each)) return each;
  }
  return own;
}
