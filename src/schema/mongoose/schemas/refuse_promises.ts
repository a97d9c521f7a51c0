import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { isPromise } from "../../../declare/hooks/run_hook.ts";
import { isJsonObject } from "../../fields/json.ts";
import { typesWithin } from "./schema_members.ts";

const { CastError } = mongoose.Error;
const { DocumentArray, Map, Mixed, Subdocument } = mongoose.Schema.Types;

type Cast = (value: unknown, doc: unknown, init?: boolean, ...rest: unknown[]) => unknown;

/**
 * Makes the types of a schema throw a `CastError` for a promise, which the application has forgotten to await. Mongoose
 * would store an empty object, because a promise is an object without keys.
 */
export function refusePromises(schema: Schema): void {
  for (const type of Object.values(schema.paths).flatMap(typesWithin)) {
    if (isOfObjects(type)) refuseIn(type);
  }
}

function isOfObjects(type: SchemaType): boolean {
  return [DocumentArray, Map, Mixed, Subdocument].some((each) => type instanceof each);
}

function refuseIn(type: SchemaType): void {
  const own = type.cast as Cast;
  const cast: Cast = function (this: SchemaType, value, doc, init, ...rest) {
    // Promises inside an embedded object are found when its values are cast to their fields. Only the embedded object
    // itself is therefore checked here.
    const isRefused = init !== true &&
      (type instanceof Mixed
        ? holdsPromise(value)
        : [value].flat().some((each) => isPromise(each)));
    if (isRefused) throw new CastError(type.instance, value, type.path);
    return own.call(this, value, doc, init, ...rest);
  };
  Object.assign(type, { cast });
}

/**
 * Whether a value is a promise, or an array or a plain object that contains a promise at any depth. Such a value is
 * refused, because the application has forgotten an `await`.
 */
export function holdsPromise(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isPromise(value)) return true;
  const inner = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return inner.some(holdsPromise);
}
