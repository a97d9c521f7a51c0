import type { ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { type FieldShape, type Shape, shapeForAll } from "../../schema/fields/shape.ts";
import { shapeWithin, strictestField, whyUnseen } from "../../schema/fields/visibility.ts";
import type { StoredObject } from "../../store/values.ts";

/** Nobody could read a field that is hidden from all. A function `hidden` decides when the history is read. */
export function isRecorded(name: string, shape: Shape): boolean {
  const field = strictestField(name, shape);
  return field === undefined ? shape.declares(name) : whyUnseen(field) === undefined;
}

export function recordedShape(target: ModelClass): Shape {
  return shapeForAll(buildSchema(target).schema);
}

export function recordedValues(values: StoredObject, shape: Shape): StoredObject {
  const kept = Object.entries(values).filter(([name]) => isRecorded(name, shape));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, recordedValue(value, strictestField(name, shape))]),
  );
}

function recordedValue(value: unknown, field: FieldShape | undefined): unknown {
  const inner = field && shapeWithin(field);
  if (field === undefined || inner === undefined) return value;
  const { kind, element = field, shape = inner } = field;
  if (Array.isArray(value)) {
    return value.map((each) => recordedValue(each, kind === "object" ? field : element));
  }
  if (!isJsonObject(value)) return value;
  switch (kind) {
    case "array":
      return recordedValue(value, element);
    case "map":
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, recordedValue(each, element)]),
      );
    default:
      return recordedValues(value, shape);
  }
}
