import { isImmutable } from "../mongoose/schemas/field_rules.ts";
import type { FieldShape, Shape } from "./shape.ts";

/**
 * Whether a field is hidden or not selected, or contains hidden or unselected fields, so that clients must not see its
 * whole value.
 */
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

/**
 * Whether a field, or the elements of an array, are immutable, so that only the body of a new entity can set the value.
 */
export function isSetOnce(field: FieldShape | undefined): boolean {
  return field !== undefined && (isImmutable(field.type) || isSetOnce(field.element));
}

export function whyUnseen(field: FieldShape | undefined): string | undefined {
  if (field === undefined) return "is no field";
  if (field.hidden) return "is hidden";
  return field.selected ? undefined : "is not selected";
}

/**
 * Whether a path names a hidden or unselected field, goes through one, or names a value that contains one. Error
 * messages do not contain the value of such a path.
 */
export function isHiddenPath(path: string, shape: Shape): boolean {
  return secrecyOf(path, shape) !== undefined;
}

/**
 * Returns `"secret"` if a path names a hidden or unselected field or goes through one. Returns `"holder"` if the path
 * names a visible value that contains such fields. Returns `undefined` if clients may see the whole value. Array
 * positions and keys of Maps in the path are skipped.
 */
export function secrecyOf(path: string, shape: Shape): "secret" | "holder" | undefined {
  let at: Pick<FieldShape, "kind" | "shape" | "element"> | undefined = { kind: "object", shape };
  let known = false;
  for (const segment of path.split(".")) {
    if (at?.kind === "array" && POSITION.test(segment)) {
      at = at.element;
      continue;
    }
    while (at?.kind === "array") at = at.element;
    // Clients choose the keys of a Map, and a key may be equal to the name of a hidden field. The key is therefore
    // skipped, and the search for hidden fields goes on in the value.
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

/**
 * Whether the model of a shape, or one of its kinds (discriminators), declares a field. The result is `false` for a
 * field that only a plugin of a connection adds.
 */
export function hasField(name: string, shape: Shape): boolean {
  return strictestField(name, shape) !== undefined;
}

/**
 * Returns the field with a name in a model or in one of its kinds (discriminators). If several kinds declare the field,
 * the most restricted declaration is returned, so that no kind's hidden field is shown.
 */
export function strictestField(name: string, shape: Shape): FieldShape | undefined {
  const field = shape.fields.get(name);
  if (field !== undefined) return field;
  const ofKinds = [...shape.kinds.values()].flatMap((kind) => kind.fields.get(name) ?? []);
  return ofKinds.find(({ hidden, selected }) => hidden || !selected) ??
    ofKinds.find(isSecret) ?? ofKinds[0];
}

const POSITION = /^\d+$/;

/**
 * Whether a body may set the value at a path, so that the client gets the problem of a wrong value. Bodies set only
 * fields of the base model, so fields that only a kind (discriminator) declares do not count.
 */
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

/**
 * Returns the description of the objects in a field, also of objects in arrays and Maps at any depth, so that the rules
 * of hidden fields can be applied to these objects. Returns `undefined` if the field contains no objects with declared
 * fields.
 */
export function shapeWithin(
  { shape, element }: Pick<FieldShape, "shape" | "element">,
): Shape | undefined {
  return shape ?? (element && shapeWithin(element));
}

/**
 * Whether a class contains itself, directly or through other classes. A description of its fields as a tree would be
 * infinite.
 */
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
