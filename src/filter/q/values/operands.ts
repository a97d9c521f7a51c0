import { checkList, wrong } from "../budget.ts";
import type { Place } from "../budget.ts";

/** Compiles the operand of `$regex`: an expression as text. */
export function compileRegex(value: unknown, place: Place, operator: string): unknown {
  const { maxRegex } = place.budget.limits;
  if (typeof value !== "string" || value.includes("\0")) {
    return wrong(place, operator, "an expression as text");
  }
  if (value.length > maxRegex) return wrong(place, operator, `at most ${maxRegex} characters`);
  if (place.field.kind === "object" || place.field.kind === "map") {
    return wrong(place, operator, "a text to match");
  }
  return value;
}

/** Compiles the operand of `$type`: a type, or a list of types. */
export function compileType(value: unknown, place: Place, operator: string): unknown {
  const valid = (type: unknown) =>
    typeof type === "string" || (Number.isInteger(type) && Math.abs(type as number) < 256);
  const all = Array.isArray(value) ? checkList(value, operator, place.budget) : [value];
  return all.length > 0 && all.every(valid)
    ? value
    : wrong(place, operator, "a type or a list of types");
}

/** Tells whether a value is the operand of `$size`. */
export function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** Tells whether a value is the operand of `$mod`. */
export function isDivision(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 &&
    value.every((part) => Number.isFinite(part)) && value[0] !== 0;
}

/** Tells whether a value is the operand of `$options`. */
export function isFlags(value: unknown): boolean {
  return typeof value === "string" && /^[imsx]{0,4}$/.test(value);
}
