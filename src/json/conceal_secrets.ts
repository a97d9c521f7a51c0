import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";

/** Makes the secrets of stored values not enumerable: hooks can read them, but copies and JSON leave them out. */
export function concealSecrets<T extends object>(values: T, shape: Shape): T {
  for (const [name, field] of shape.secretive ? shape.fields : []) {
    const value: unknown = values[name as keyof T];
    if (value === undefined) continue;
    if (field.hidden) Object.defineProperty(values, name, { enumerable: false });
    else concealWithin(value, field);
  }
  return values;
}

function concealWithin(value: unknown, field: FieldShape): void {
  const { kind, element } = field;
  if (kind === "array" && Array.isArray(value)) {
    for (const each of value) concealWithin(each, element ?? field);
    return;
  }
  if (!isJsonObject(value)) return;
  if (kind === "map" && element !== undefined) {
    for (const each of Object.values(value)) concealWithin(each, element);
    return;
  }
  const shape = field.shape ?? field.populated;
  if (shape !== undefined) concealSecrets(value, shape);
}
