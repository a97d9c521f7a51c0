import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Route } from "../../pipeline/request/route.ts";

const MAX_CASCADE = 1000;

export interface OnDeleteSettings {
  readonly maxCascade: number;
  /** Error messages name only these classes, whose entities the router shows. */
  readonly shown: Set<ModelClass>;
}

export function readSettings(maxCascade: unknown = MAX_CASCADE): OnDeleteSettings {
  if (!Number.isSafeInteger(maxCascade) || Number(maxCascade) < 1) {
    throw new RangeError(
      `Cannot initialize: limits.cascade is ${maxCascade}, not a whole number of at least 1`,
    );
  }
  return { maxCascade: Number(maxCascade), shown: new Set() };
}

export function settingsOf({ settings }: Route): OnDeleteSettings {
  return settings.get("onDelete") as OnDeleteSettings;
}
