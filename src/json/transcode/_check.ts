import { readInt64, UnknownTypeError } from "../bytes/bson_reader.ts";
import type { BsonReader } from "../bytes/bson_reader.ts";
import { TIME_RANGE } from "../types/json_forms.ts";
import { ANY } from "./plan.ts";
import type { ValuePlan } from "./plan.ts";

const DOUBLE = 0x01;
const UNDEFINED = 0x06;
const DATE = 0x09;
const INT64 = 0x12;

/** Throws for a value that its field does not hold if it is as declared. */
export function checkValue({ types }: ValuePlan, source: BsonReader): void {
  const { type } = source;
  if (types === ANY && type !== UNDEFINED) return;
  const known = type < 32 && (types >>> type & 1) !== 0;
  if (!known || !isExact(types, source)) {
    throw new UnknownTypeError(`Cannot write BSON type ${type} here`);
  }
}

/** Whether a number or a date is one that the field can hold. */
function isExact(types: number, { type, bytes, at }: BsonReader): boolean {
  if (type === DOUBLE) return !Number.isNaN(bytes.readDoubleLE(at));
  if (type !== DATE && type !== INT64) return type !== UNDEFINED;
  const value = readInt64(bytes, at);
  if (type === DATE) return Math.abs(value) <= TIME_RANGE;
  return (types & 1 << DOUBLE) === 0 || Number.isSafeInteger(value);
}
