import type { FieldShape } from "./shape.ts";

/** Tells whether a field is a secret, or holds one: what is hidden or not selected. */
export function isSecret({ hidden, selected, shape, element }: FieldShape): boolean {
  return hidden || !selected || shape?.secretive === true ||
    (element !== undefined && isSecret(element));
}
