import type { FieldShape } from "./shape.ts";

/** Tells whether a field is a secret, or holds one: what is hidden or not selected. */
export function isSecret({ hidden, selected, shape, element }: FieldShape): boolean {
  return hidden || !selected || shape?.secretive === true ||
    (element !== undefined && isSecret(element));
}

/** Gives what keeps clients from seeing a field, if anything. */
export function whyUnseen(field: FieldShape | undefined): string | undefined {
  if (field === undefined) return "is no field";
  if (field.hidden) return "is hidden";
  return field.selected ? undefined : "is not selected";
}
