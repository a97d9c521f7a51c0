import type { Value } from "../../q/q_judge.ts";
import type { Doc, FieldSpec } from "./world.ts";

/** Stands for any value, none included. */
export const ANY = "<anything>";

export function isDoc(value: unknown): value is Doc {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSeen({ guard }: FieldSpec): boolean {
  return guard === undefined || guard === "readonly";
}

/** Tells where a value is not what is expected. */
export function differences(actual: unknown, expected: unknown, path = ""): string[] {
  if (expected === ANY || actual === expected) return [];
  const isPair = isDoc(actual) && isDoc(expected) ||
    Array.isArray(actual) && Array.isArray(expected) && actual.length === expected.length;
  if (!isPair) return [`${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
  const [some, others] = [actual as Doc, expected as Doc];
  return [...new Set([...Object.keys(some), ...Object.keys(others)])]
    .flatMap((key) => differences(some[key], others[key], `${path}/${key}`));
}

export const FITS: Record<FieldSpec["kind"], (value: Value) => boolean> = {
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  flag: (value) => typeof value === "boolean",
  free: isDoc,
  map: (value) => isDoc(value) && Object.values(value).every(isText),
  texts: (value) => Array.isArray(value) && value.every(isText),
  object: isDoc,
  objects: (value) => Array.isArray(value) && value.every(isDoc),
  reference: isId,
  references: (value) => Array.isArray(value) && value.every(isId),
};

export function isId(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{24}$/.test(value);
}

/** Whether a value that does not fit is refused for certain. */
export function isWrong(value: Value, kind: FieldSpec["kind"]): boolean {
  if (kind === "free") return false;
  if (Array.isArray(value)) {
    return ["text", "number", "flag"].includes(kind) ||
      (kind === "references" && value.some((each) => each === "wrong")) ||
      (kind === "objects" && value.some((each) => each === "wrong")) ||
      (kind === "texts" && value.some(isDoc));
  }
  if (isDoc(value)) return ["text", "number", "flag"].includes(kind);
  return value === "wrong" && ["number", "flag", "map", "object", "reference"].includes(kind);
}

/** What a field has where nothing is stored. */
export function missing({ kind, default: given }: FieldSpec): Value | undefined {
  return given ?? (["texts", "objects", "references"].includes(kind) ? [] : undefined);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** A merge patch of RFC 7396. */
export function patched(stored: Value | undefined, patch: Doc): Doc {
  const result: Doc = isDoc(stored) ? { ...stored } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = isDoc(value) ? patched(result[key], value) : value;
  }
  return result;
}
