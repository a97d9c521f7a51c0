import { badData } from "../../errors/refusals.ts";
import type { PartLink } from "../../schema/describe_parts.ts";

/** Checks that a parent may lose what one of its properties holds. Throws a 400 if it is the only one, and required. */
export function checkRequired({ property, array, required }: PartLink): void {
  if (array || !required) return;
  throw badData({ [property]: { message: `Field "${property}" is required`, kind: "required" } });
}
