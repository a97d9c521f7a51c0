import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import type { Reading } from "./_compile_reads.ts";

const KINDS: Readonly<Record<FieldShape["kind"], string>> = {
  ...{ array: "an array", object: "an object", map: "a map", free: "anything", scalar: "no text" },
};

/** Checks a list of fields that clients see, and that can be used so. Throws if it is none. */
export function checkNames(
  names: unknown,
  { option, shape, fail }: Pick<Reading, "shape" | "fail"> & { readonly option: string },
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

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

export function objectOf(given: unknown): Record<string, unknown> {
  return isJsonObject(given) ? given : {};
}

/** An option with a wrong name would do nothing. */
export function checkNoOthers(
  others: object,
  { option, fail }: { readonly option: string } & Pick<Reading, "fail">,
): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`has an unknown option "${option}.${unknown}"`);
}
