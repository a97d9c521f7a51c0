import type { FieldShape } from "./shape.ts";

export function referenceIn(field: FieldShape): FieldShape | undefined {
  const reference = field.kind === "array" ? field.element : field;
  return reference?.kind === "scalar" && reference.type?.options.ref !== undefined
    ? reference
    : undefined;
}
