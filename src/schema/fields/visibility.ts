import { isImmutable } from "../mongoose/schemas/field_rules.ts";
import type { FieldShape, Shape } from "./shape.ts";

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

export function isSetOnce(field: FieldShape | undefined): boolean {
  return field !== undefined && (isImmutable(field.type) || isSetOnce(field.element));
}

export function whyUnseen(field: FieldShape | undefined): string | undefined {
  if (field === undefined) return "is no field";
  if (field.hidden) return "is hidden";
  return field.selected ? undefined : "is not selected";
}

export function isHiddenPath(path: string, shape: Shape): boolean {
  return secrecyOf(path, shape) !== undefined;
}

/** `"holder"` if a visible value contains hidden or unselected fields. */
export function secrecyOf(path: string, shape: Shape): "secret" | "holder" | undefined {
  let at: Pick<FieldShape, "kind" | "shape" | "element"> | undefined = { kind: "object", shape };
  let known = false;
  for (const segment of path.split(".")) {
    if (at?.kind === "array" && POSITION.test(segment)) {
      at = at.element;
      continue;
    }
    while (at?.kind === "array") at = at.element;
    // Clients choose the keys of a Map, so a key named like a hidden field is not secret.
    if (at?.kind === "map") {
      at = at.element;
      continue;
    }
    const field: FieldShape | undefined = at?.shape && strictestField(segment, at.shape);
    if (field === undefined) continue;
    if (field.hidden || !field.selected) return "secret";
    at = field;
    known = true;
  }
  const isHolder = known && at !== undefined && shapeWithin(at)?.secretive === true;
  return isHolder ? "holder" : undefined;
}

export function hasField(name: string, shape: Shape): boolean {
  return strictestField(name, shape) !== undefined;
}

/** The strictest declaration of all discriminators counts, so that no hidden field is shown. */
export function strictestField(name: string, shape: Shape): FieldShape | undefined {
  const field = shape.fields.get(name);
  if (field !== undefined) return field;
  const ofKinds = [...shape.kinds.values()].flatMap((kind) => kind.fields.get(name) ?? []);
  return ofKinds.find(({ hidden, selected }) => hidden || !selected) ??
    ofKinds.find(isSecret) ?? ofKinds[0];
}

const POSITION = /^\d+$/;

/** Bodies cannot set fields of discriminators, because routes use the base model. */
export function isSettable(path: string, shape: Shape): boolean {
  let at: Pick<FieldShape, "kind" | "shape" | "element"> | undefined = { kind: "object", shape };
  for (const segment of path.split(".")) {
    const isPosition = at?.kind === "array" && POSITION.test(segment);
    if (!isPosition) { while (at?.kind === "array") at = at.element; }
    if (at?.kind === "free") return true;
    if (isPosition || at?.kind === "map") at = at?.element;
    else {
      const field: FieldShape | undefined = at?.shape?.fields.get(segment);
      if (field?.writable !== true) return false;
      at = field;
    }
  }
  return true;
}

export function shapeWithin(
  { shape, element }: Pick<FieldShape, "shape" | "element">,
): Shape | undefined {
  return shape ?? (element && shapeWithin(element));
}

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
