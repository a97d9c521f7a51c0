import { badFormat } from "../../errors/refusals.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { MAX_DEPTH } from "./cast_body.ts";
import type { BodyLimits } from "./limits.ts";

/**
 * Checks how deep a body is nested, and how many keys and elements it has.
 *
 * @throws {RestError} 400 if it is beyond a cap.
 */
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
