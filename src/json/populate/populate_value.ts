import { isJsonObject } from "../../schema/fields/json.ts";
import { populated, want } from "./targets.ts";
import type { FieldTargets, ReferenceText, Targets, Wanted } from "./targets.ts";

/** Notes the identifiers that an entity, as a value of JSON, holds in its references. */
export function wantIn(entity: unknown, wanted: Wanted): void {
  if (!isJsonObject(entity)) return;
  for (const [name, ids] of wanted) {
    const held = Object.hasOwn(entity, name) ? heldIn(entity[name]) : undefined;
    if (held !== undefined) want(ids, held);
  }
}

/** Gives the JSON text of an entity with what its references name. */
export function populatedText(entity: unknown, targets: Targets): string {
  if (!isJsonObject(entity)) return JSON.stringify(entity) ?? "null";
  const entries: string[] = [];
  for (const key of Object.keys(entity)) {
    const text = fieldText(entity[key], targets.get(key));
    if (text !== undefined) entries.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${entries.join(",")}}`;
}

function fieldText(value: unknown, found: FieldTargets | undefined): string | undefined {
  if (found === undefined) return JSON.stringify(value);
  const held = heldIn(value);
  return held &&
    populated(held, found).map((each) => typeof each === "string" ? each : each.text).join("");
}

function heldIn(value: unknown): ReferenceText | undefined {
  // JSON has nothing in the place of what is undefined, but in an array.
  const textOf = (each: unknown): string | undefined => JSON.stringify(each);
  return Array.isArray(value) ? value.map((each) => textOf(each) ?? "null") : textOf(value);
}
