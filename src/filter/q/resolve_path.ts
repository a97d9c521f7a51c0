import { badFormat } from "../../errors/refusals.ts";
import { isFieldKey } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

/** A field of which nothing is declared. */
export const FREE: FieldShape = {
  ...{ kind: "free", hidden: false, readonly: false, writable: true, selected: true },
};

/** The database stores no objects that are nested deeper. */
const MAX_SEGMENTS = 100;

const INDEX = /^(0|[1-9]\d{0,8})$/;

/** Finds the field that a path names, through objects, maps, arrays and free-form fields. */
export function resolvePath(path: string, shape: Shape | undefined): FieldShape {
  const segments = path.split(".");
  if (segments.length > MAX_SEGMENTS) {
    throw badFormat(`A path in a filter has at most ${MAX_SEGMENTS} segments`);
  }
  const isValid = segments.every((segment) => segment !== "" && isFieldKey(segment));
  let field: FieldShape | undefined = shape === undefined
    ? FREE
    : { ...FREE, kind: "object", shape };
  for (const segment of isValid ? segments : []) field = field && fieldIn(field, segment);
  if (field !== undefined && isValid) return field;
  throw badFormat(`Field "${path}" is unknown`, { field: path });
}

function fieldIn(field: FieldShape, name: string): FieldShape | undefined {
  const { kind, shape, element = FREE } = field;
  switch (kind) {
    case "free":
      return field;
    case "object": {
      const inner = shape?.fields.get(name);
      return inner === undefined || inner.hidden || !inner.selected ? undefined : inner;
    }
    case "map":
      return element;
    case "array":
      return INDEX.test(name) ? element : fieldIn(element, name);
    default:
      return undefined;
  }
}

/**
 * Finds the field that declares a path for the application, which may name what clients do not see: itself, or what holds it,
 * where anything may be below.
 */
export function declaredField(path: string, shape: Shape): FieldShape | undefined {
  let field: FieldShape | undefined = { ...FREE, kind: "object", shape };
  for (const name of path.split(".")) field = field && declaredIn(field, name);
  return field;
}

function declaredIn(field: FieldShape, name: string): FieldShape | undefined {
  const { kind, shape, element = FREE, type } = field;
  if (kind === "array") return INDEX.test(name) ? element : declaredIn(element, name);
  if (kind === "object") {
    return shape?.fields.get(name) ?? (shape?.declares(name) ? FREE : undefined);
  }
  // A type of the application or of a package may hold objects.
  return kind !== "scalar" || type !== undefined && !isMongooseType(type) ? FREE : undefined;
}
