import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Route } from "../../pipeline/request/route.ts";

const MAX_CASCADE = 1000;

/** The settings of the rules for removals that all routes of a router share. */
export interface OnDeleteSettings {
  readonly maxCascade: number;
  /** The classes whose entities the routes of the router show. Errors name only these classes. */
  readonly shown: Set<ModelClass>;
}

/** Reads the option of a router. Throws a `RangeError` if the limit of cascades is no number of entities. */
export function readSettings(maxCascade: unknown = MAX_CASCADE): OnDeleteSettings {
  if (!Number.isSafeInteger(maxCascade) || Number(maxCascade) < 1) {
    throw new RangeError(
      `Cannot initialize: maxCascade is ${maxCascade}, not a whole number of at least 1`,
    );
  }
  return { maxCascade: Number(maxCascade), shown: new Set() };
}

export function settingsOf({ settings }: Route): OnDeleteSettings {
  return settings.get("onDelete") as OnDeleteSettings;
}
