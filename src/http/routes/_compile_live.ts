import type { LiveRule } from "../../filter/parameters/read_rules.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { Fail } from "./_check_rest.ts";

const MAX = 10_000;

interface LiveList {
  readonly shape: Shape;
  readonly fail: Fail;
}

/** Compiles the option `live` of a list. */
export function compileLive(given: unknown, { shape, fail }: LiveList): LiveRule {
  if (!shape.fields.has("_id")) {
    throw fail(
      `cannot have "live": what it lists has no _id, by which clients tell entities apart`,
    );
  }
  if (given !== true && !isJsonObject(given)) {
    throw fail(`needs true or an object as "live"`);
  }
  const { max = MAX, ...others } = given === true ? {} : given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`has an unknown option "live.${unknown}"`);
  if (!Number.isSafeInteger(max) || Number(max) < 1) {
    throw fail(`needs a whole number of at least 1 as "live.max"`);
  }
  return { max: Number(max) };
}
