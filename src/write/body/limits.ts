import { completeLimits } from "../../errors/complete_limits.ts";
import { badFormat } from "../../errors/refusals.ts";
import type { JsonObject } from "../../schema/fields/json.ts";

/** Limits on the size of request bodies. Larger ones answer 400. */
export interface BodyLimits {
  /**
   * The maximum number of keys, of all objects together.
   *
   * @default {5000}
   */
  readonly maxKeys?: number;
  /**
   * The maximum number of elements, of all arrays together.
   *
   * @default {5000}
   */
  readonly maxElements?: number;
}

export const DEFAULT_BODY_LIMITS: Required<BodyLimits> = { maxKeys: 5_000, maxElements: 5_000 };

export function completeBodyLimits(given: BodyLimits = {}): Required<BodyLimits> {
  return completeLimits(given, { defaults: DEFAULT_BODY_LIMITS, what: "bodies" });
}

/** How deep a body may be nested: the database stores no more than 100 levels. */
const MAX_DEPTH = 100;

/** Throws a 400 if a body is nested too deep, or has too many keys or elements. */
export function checkSize(body: JsonObject, { maxKeys, maxElements }: Required<BodyLimits>): void {
  let keys = 0;
  let elements = 0;
  // Level by level: a body may be nested deeper than calls can be.
  let level: object[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    const next: object[] = [];
    for (const each of level) {
      const values = Array.isArray(each) ? each : Object.values(each);
      if (depth >= MAX_DEPTH && values.length > 0) {
        throw badFormat(`The body is nested more than ${MAX_DEPTH} deep`);
      }
      if (Array.isArray(each)) elements += values.length;
      else keys += values.length;
      if (keys > maxKeys) throw badFormat(`The body has more than ${maxKeys} keys`);
      if (elements > maxElements) {
        throw badFormat(`The arrays of the body have more than ${maxElements} elements`);
      }
      for (const value of values) {
        if (typeof value === "object" && value !== null) next.push(value);
      }
    }
    level = next;
  }
}
