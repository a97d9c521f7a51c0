import { isImmutable } from "../mongoose/schemas/field_rules.ts";
import type { FieldShape, Shape } from "./shape.ts";

/** Tells whether a field is a secret, or holds one: what is hidden or not selected. */
export function isSecret({ hidden, selected, shape, element }: FieldShape): boolean {
  return hidden || !selected || shape?.secretive === true ||
    (element !== undefined && isSecret(element));
}

export function isProtected({ hidden, selected, readonly }: FieldShape): boolean {
  return hidden || !selected || readonly;
}

export function isClearable(field: FieldShape): boolean {
  return field.writable && !isProtected(field);
}

/** Whether a field, or the elements of a list, are immutable once the entity is stored. */
export function isSetOnce(field: FieldShape | undefined): boolean {
  return field !== undefined && (isImmutable(field.type) || isSetOnce(field.element));
}

export function whyUnseen(field: FieldShape | undefined): string | undefined {
  if (field === undefined) return "is no field";
  if (field.hidden) return "is hidden";
  return field.selected ? undefined : "is not selected";
}

/** Tells whether a path leads to a secret or through one, positions in arrays and keys of Maps aside. */
export function isHiddenPath(path: string, shape: Shape): boolean {
  return secrecyOf(path, shape) !== undefined;
}

/** Returns whether a path is secret, or leads to a visible value that holds secrets. */
export function secrecyOf(path: string, shape: Shape): "secret" | "holder" | undefined {
  let at: Pick<FieldShape, "kind" | "shape" | "element"> | undefined = { kind: "object", shape };
  let known = false;
  for (const segment of path.split(".")) {
    if (at?.kind === "array" && POSITION.test(segment)) {
      at = at.element;
      continue;
    }
    while (at?.kind === "array") at = at.element;
    // A client names the keys of a map: one may be called like a field.
    if (at?.kind === "map") {
      at = at.element;
      continue;
    }
    const field: FieldShape | undefined = at?.shape?.fields.get(segment);
    if (field === undefined) continue;
    if (field.hidden || !field.selected) return "secret";
    at = field;
    known = true;
  }
  const isHolder = known && at !== undefined && shapeWithin(at)?.secretive === true;
  return isHolder ? "holder" : undefined;
}

const POSITION = /^\d+$/;

/** Gives the shape of the objects that a field holds, in lists of lists too. */
export function shapeWithin(
  { shape, element }: Pick<FieldShape, "shape" | "element">,
): Shape | undefined {
  return shape ?? (element && shapeWithin(element));
}

/** Tells whether an object leads back to itself through the objects that it holds. */
export function isRecursive<N>(node: N, objectsIn: (node: N) => readonly N[]): boolean {
  const passed = new Set<N>();
  const leadsBack = (each: N): boolean =>
    objectsIn(each).some((inner) => {
      if (inner === node) return true;
      if (passed.has(inner)) return false;
      passed.add(inner);
      return leadsBack(inner);
    });
  return leadsBack(node);
}
