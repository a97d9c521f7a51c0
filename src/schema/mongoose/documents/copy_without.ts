import type { Document } from "mongoose";
import { isInstance, rememberShape, shapeOfInstance } from "../../fields/instance_shapes.ts";
import { UNRESTRICTED } from "../../fields/rights.ts";
import { isDocument } from "../bson.ts";
import { rawValues, VALUES_KEY } from "./document_values.ts";
import { spreadOf } from "./mark_copies.ts";

export function copyWithout(entity: object, names: readonly string[]): object {
  return isDocument(entity) ? documentWithout(entity, names) : objectWithout(entity, names);
}

function documentWithout(doc: Document, names: readonly string[]): object {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(doc)), doc) as object;
  return Object.assign(copy, { [VALUES_KEY]: valuesWithout(rawValues(doc), names) });
}

function objectWithout(entity: object, names: readonly string[]): object {
  const descriptors = Object.getOwnPropertyDescriptors(entity) as PropertyDescriptorMap;
  for (const name of names) delete descriptors[name];
  const copy = Object.create(Object.getPrototypeOf(entity), descriptors) as object;
  const spread = spreadOf(entity);
  if (spread !== undefined) {
    Object.assign(copy, { [VALUES_KEY]: valuesWithout(spread.stored, names) });
  }
  const shape = isInstance(entity) ? undefined : shapeOfInstance(entity, UNRESTRICTED);
  return shape === undefined ? copy : rememberShape(copy, shape);
}

/** The spread also copies the symbol that tells JSON which fields are hidden. */
function valuesWithout(values: object, names: readonly string[]): object {
  const copy: Record<string, unknown> = { ...values };
  for (const name of names) delete copy[name];
  return copy;
}
