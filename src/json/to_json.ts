import type { Shape } from "../schema/fields/shape.ts";
import { toPlain } from "./to_plain.ts";

/** Writes an entity, or anything that a hook gave in its place, as the JSON text of the answer. */
export function toJson(value: unknown, shape?: Shape): string {
  return JSON.stringify(toPlain(value, shape)) ?? "null";
}
