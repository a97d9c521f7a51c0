import type { Schema, SchemaType } from "mongoose";
import { isDateOnly, startOfDay } from "../../fields/date_only.ts";
import { typesWithin } from "./schema_members.ts";

type Cast = (value: unknown, doc: unknown, init?: boolean, ...rest: unknown[]) => unknown;

const cutting = new WeakSet<SchemaType>();

/**
 * Mongoose passes `init === false` only for set values and defaults, which become midnight. Stored times and filters
 * stay exact.
 */
export function cutTimes(schema: Schema): void {
  for (const type of Object.values(schema.paths).flatMap(typesWithin)) {
    if (!isDateOnly(type) || cutting.has(type)) continue;
    cutting.add(type);
    const own = type.cast as Cast;
    const cast: Cast = function (this: SchemaType, value, doc, init, ...rest) {
      const time = own.call(this, value, doc, init, ...rest);
      return init === false && time instanceof Date ? startOfDay(time) : time;
    };
    Object.assign(type, { cast });
  }
}
