import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";

export interface ConcealOptions {
  readonly shape: Shape;
  /** The paths at which a query has put entities in the place of identifiers. */
  readonly populated: ReadonlySet<string>;
  /** The path of the values, with a dot at its end. */
  readonly prefix?: string;
  /** Whether fields that reads leave out are secrets, too. */
  readonly leavesOut?: boolean;
}

/** Makes the secrets of stored values not enumerable: hooks can read them, but copies and JSON leave them out. */
export function concealSecrets<T extends object>(values: T, options: ConcealOptions): T {
  const { shape, prefix = "", leavesOut = false } = options;
  for (const [name, field] of shape.fields) {
    const value: unknown = values[name as keyof T];
    if (value === undefined) continue;
    if (field.hidden || (leavesOut && !field.selected)) {
      Object.defineProperty(values, name, { enumerable: false });
    } else if (typeof value === "object") {
      concealWithin(value, { ...options, field, prefix: `${prefix}${name}.` });
    }
  }
  return values;
}

function concealWithin(
  value: unknown,
  { field, ...options }: Omit<ConcealOptions, "shape"> & { readonly field: FieldShape },
): void {
  const { kind, element } = field;
  if (Array.isArray(value)) {
    for (const each of value) concealWithin(each, { ...options, field: element ?? field });
    return;
  }
  if (!isJsonObject(value)) return;
  if (element !== undefined) {
    const values = kind === "map" ? Object.values(value) : [value];
    for (const each of values) concealWithin(each, { ...options, field: element });
    return;
  }
  if (field.shape !== undefined) concealSecrets(value, { ...options, shape: field.shape });
  else if (field.populated !== undefined) {
    const leavesOut = !options.populated.has(String(options.prefix).slice(0, -1));
    concealSecrets(value, { shape: field.populated, populated: new Set(), leavesOut });
  }
}
