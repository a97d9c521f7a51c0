import type { Buffer } from "node:buffer";
import { TIME_RANGE } from "./_date.ts";
import { readTime, UNDEFINED } from "./_scan.ts";
import { ANY } from "./plan.ts";
import type { ValuePlan } from "./plan.ts";
import { UnknownTypeError } from "./unknown_type_error.ts";

const DOUBLE = 1 << 0x01;

/** Checks that a value is what its field is made for: what else becomes of it, Mongoose knows. */
export function checkValue({ types }: ValuePlan, type: number, source: Buffer, at: number): void {
  if (types === ANY && type !== UNDEFINED) return;
  const known = type < 32 && (types >>> type & 1) !== 0;
  if (!known || !isExact(types, type, source, at)) {
    throw new UnknownTypeError(`Cannot write BSON type ${type} here`);
  }
}

/** Whether a number or a date is one that the field can hold. */
function isExact(types: number, type: number, source: Buffer, at: number): boolean {
  if (type === 0x01) return !Number.isNaN(source.readDoubleLE(at));
  if (type !== 0x09 && type !== 0x12) return type !== UNDEFINED;
  const value = readTime(source, at);
  if (type === 0x09) return Math.abs(value) <= TIME_RANGE;
  return (types & DOUBLE) === 0 || Number.isSafeInteger(value);
}
