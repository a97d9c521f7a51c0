import { dayOf } from "../schema/fields/date_only.ts";
import { isJson } from "../schema/fields/json.ts";
import type { Constraints } from "../schema/mongoose/schemas/field_rules.ts";
import type { ValueDescription } from "./describe_object.ts";

export function describeType(type: string): Pick<ValueDescription, "type" | "format"> {
  return type === "DateOnly" ? { type: "Date", format: "date" } : { type };
}

export function describeConstraints(
  { match, enum: allowed, ...bounds }: Constraints,
  type: string,
) {
  const described = Object.entries(bounds).map(([name, bound]) =>
    [name, bound instanceof Date ? formatDate(bound, type) : bound] as const
  );
  return {
    ...isJson(allowed) && { enum: allowed as readonly unknown[] },
    ...Object.fromEntries(described),
    ...match?.flags === "" && { pattern: match.source },
  };
}

export function formatDate(date: Date, type: string): string {
  return type === "DateOnly" ? dayOf(date.toJSON()) : date.toJSON();
}
