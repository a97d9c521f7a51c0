import { toJson } from "../../json/to_json.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { rawValues } from "../../schema/mongoose/documents/raw_values.ts";
import { fieldDefault } from "../../schema/fields/field_default.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";

/** Whether a client can neither see nor set a field: what clears the object around it leaves it as it is. */
function isProtected({ hidden, selected, type }: FieldShape): boolean {
  return hidden || !selected || type?.options.readonly === true;
}

/** Whether a replacement that leaves a field out clears it. */
export function isClearable(field: FieldShape): boolean {
  return field.writable && !isProtected(field);
}

/** Whether an object, or a Map of objects, holds a protected field with more than its default. */
export function holdsProtected(value: unknown, field: FieldShape): boolean {
  if (field.kind === "map") {
    const { element } = field;
    return element !== undefined && mapValues(value).some((each) => holdsProtected(each, element));
  }
  const values = field.kind === "object" ? valuesOf(value) : undefined;
  if (values === undefined || field.shape === undefined) return false;
  return [...field.shape.fields].some(([name, inner]) => {
    const each = Object.hasOwn(values, name) ? values[name] : undefined;
    if (each === undefined || each === null) return false;
    return isProtected(inner) ? !isDefault(each, inner) : holdsProtected(each, inner);
  });
}

function mapValues(value: unknown): unknown[] {
  if (value instanceof Map) return [...value.values()];
  return isJsonObject(value) ? Object.values(value) : [];
}

function valuesOf(value: unknown): Record<string, unknown> | undefined {
  if (isDocument(value)) return rawValues(value);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : undefined;
}

/** Whether a value equals the default of its field, so that nothing is lost without it. */
function isDefault(value: unknown, field: FieldShape): boolean {
  if (field.kind === "array" && Array.isArray(value) && value.length === 0) return true;
  const { kind, given } = fieldDefault(field);
  return kind === "constant" && toJson(value) === toJson(given);
}
