import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { isPromise } from "../../../declare/hooks/run_hook.ts";
import { isJsonObject } from "../../fields/json.ts";
import { typesWithin } from "./schema_members.ts";

const { CastError } = mongoose.Error;
const { DocumentArray, Map, Mixed, Subdocument } = mongoose.Schema.Types;

type Cast = (value: unknown, doc: unknown, init?: boolean, ...rest: unknown[]) => unknown;

/** Mongoose would store a promise as an empty object. */
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
    // Promises inside an embedded object are found when its fields are cast.
    const isRefused = init !== true &&
      (type instanceof Mixed
        ? holdsPromise(value)
        : [value].flat().some((each) => isPromise(each)));
    if (isRefused) throw new CastError(type.instance, value, type.path);
    return own.call(this, value, doc, init, ...rest);
  };
  Object.assign(type, { cast });
}

export function holdsPromise(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isPromise(value)) return true;
  const inner = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return inner.some(holdsPromise);
}
