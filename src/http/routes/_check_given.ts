import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import type { Reading } from "./_compile_reads.ts";

const KINDS: Readonly<Record<FieldShape["kind"], string>> = {
  ...{ array: "an array", object: "an object", map: "a map", free: "anything", scalar: "no text" },
};

/** Checks a list of fields that clients see, and that can be used so. */
export function checkNames(
  names: unknown,
  { option, shape, fail }: Pick<Reading, "shape"> & GivenOption,
): readonly string[] {
  if (!Array.isArray(names) || names.length === 0) {
    throw fail(`needs a list of fields as "${option}"`);
  }
  const isPossible = ({ kind, type }: FieldShape) =>
    option === "select" ||
    kind === "scalar" && (option !== "search" || type?.instance === "String");
  for (const name of names as unknown[]) {
    const field = shape.fields.get(String(name));
    const problem = whyUnseen(field) ??
      (field && !isPossible(field) ? `cannot be used: it holds ${KINDS[field.kind]}` : undefined);
    if (problem !== undefined) throw fail(`has "${name}" in "${option}", which ${problem}`);
  }
  return [...new Set(names as string[])];
}

export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

interface GivenOption extends Pick<Reading, "fail"> {
  readonly option: string;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

export function checkCount(value: unknown, { option, fail }: GivenOption): number {
  if (isCount(value)) return value;
  throw fail(`needs a whole number of at least 1 as "${option}"`);
}

export function checkBoolean(value: unknown, { option, fail }: GivenOption): boolean {
  if (typeof value === "boolean") return value;
  throw fail(`needs a boolean as "${option}"`);
}

export function objectOf(given: unknown): Record<string, unknown> {
  return isJsonObject(given) ? given : {};
}

/** An option with a wrong name would do nothing. */
export function checkNoOthers(others: object, { option, fail }: GivenOption): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`has an unknown option "${option}.${unknown}"`);
}
