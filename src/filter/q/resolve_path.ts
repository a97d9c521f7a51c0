import { badFormat } from "../../errors/refusals.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isPlainKey } from "../../schema/fields/json.ts";

/** What stands at a path of which nothing is declared: anything may. */
export const FREE: FieldShape = { kind: "free", hidden: false, writable: true, selected: true };

/** How many segments a path may have: the database stores no objects that are nested deeper. */
const MAX_SEGMENTS = 100;

/** A position in an array. */
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
  for (const segment of segments) {
    if (segment === "" || !isPlainKey(segment)) throw unknownPath(path);
  }
  const [first, ...rest] = segments as [string, ...string[]];
  let field = shape === undefined ? FREE : visible(shape, first, path);
  for (const segment of rest) field = step(field, segment, path);
  return field;
}

function step(field: FieldShape, segment: string, path: string): FieldShape {
  switch (field.kind) {
    case "free":
      return field;
    case "object":
      return visible(field.shape as Shape, segment, path);
    case "map":
      return field.element ?? FREE;
    case "array": {
      const element = field.element ?? FREE;
      return INDEX.test(segment) ? element : step(element, segment, path);
    }
    default:
      throw unknownPath(path);
  }
}

function visible(shape: Shape, name: string, path: string): FieldShape {
  const field = shape.fields.get(name);
  if (field === undefined || field.hidden || !field.selected) throw unknownPath(path);
  return field;
}

function unknownPath(path: string): Error {
  return badFormat(`Field "${path}" is unknown`, { field: path });
}
