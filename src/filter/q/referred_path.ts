import { type FieldShape, referenceIn, type Shape } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import { fieldIn, fieldOf, INDEX, namesIn } from "./resolve_path.ts";

export interface ReferredPath {
  readonly path: string;
  readonly reference: FieldShape;
  readonly name: string;
  readonly field: FieldShape;
}

export function findReference(
  path: string,
  shape: Shape | undefined,
): { readonly path: string; readonly reference: FieldShape; readonly below: string[] } | undefined {
  const names = namesIn(path) ?? [];
  let field: FieldShape | undefined = fieldOf(shape);
  for (const [index, name] of names.entries()) {
    field = fieldIn(field, name);
    if (field === undefined) return undefined;
    const reference = referenceIn(field);
    const below = names.slice(index + 1);
    const [next] = below;
    if (reference === undefined || next === undefined) continue;
    // In `authors.0.name`, the reference is at `authors.0`, so the list is passed over.
    if (field.kind === "array" && INDEX.test(next)) continue;
    return { path: names.slice(0, index + 1).join("."), reference, below };
  }
  return undefined;
}

export function findReferred(path: string, shape: Shape | undefined): ReferredPath | undefined {
  const found = findReference(path, shape);
  if (found === undefined) return undefined;
  const { reference, below } = found;
  let field: FieldShape | undefined;
  let inner = reference.populated;
  for (const name of below) {
    field = inner?.fields.get(name);
    if (whyUnseen(field) !== undefined) return undefined;
    inner = field?.shape;
  }
  if (field?.kind !== "scalar") return undefined;
  return { path: found.path, reference, name: below.join("."), field };
}
