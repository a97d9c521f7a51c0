import type { FieldShape } from "./shape.ts";

/** Gives the reference that a field is, or that the elements of an array are; `undefined` for other fields. */
export function referenceIn(field: FieldShape): FieldShape | undefined {
  const reference = field.kind === "array" ? field.element : field;
  return reference?.kind === "scalar" && reference.type?.options.ref !== undefined
    ? reference
    : undefined;
}
