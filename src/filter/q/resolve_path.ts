import { badFormat } from "../../errors/refusals.ts";
import { isFieldKey } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";

/** A field of which nothing is declared. */
export const FREE: FieldShape = {
  ...{ kind: "free", hidden: false, readonly: false, writable: true, selected: true },
};

/** The database stores no objects that are nested deeper. */
const MAX_SEGMENTS = 100;

const INDEX = /^(0|[1-9]\d{0,8})$/;

/**
 * Finds the field that a path names, through objects, maps, arrays and free-form fields.
 *
 * @param shape The shape that the path starts in; `undefined` inside a free-form field.
 * @throws {RestError} 400 if there is none, or a client may not know of it: both answer alike.
 */
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
