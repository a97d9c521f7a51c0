import type { SchemaType } from "mongoose";
import { toJson } from "../../json/to_json.ts";
import { readBase64 } from "../../schema/mongoose/bson.ts";
import { IDENTIFIER } from "../../schema/fields/system_fields.ts";

/** Identifiers that references hold. */
export interface Identifiers {
  /** Those that the database is asked for, each once. */
  readonly ids: readonly unknown[];
  /** What they are in the answer of the database, by what they are in the references: both as JSON text. */
  readonly names: ReadonlyMap<string, string>;
}

/** Reads identifiers in JSON text as the type of `_id` has them. What it does not take is none. */
export function readIdentifiers(texts: Iterable<string>, type: SchemaType): Identifiers {
  const ids = new Map<string, unknown>();
  const names = new Map<string, string>();
  for (const text of texts) {
    const id = castIdentifier(JSON.parse(text), type);
    if (id === undefined || id === null) continue;
    const name = toJson(id);
    ids.set(name, id);
    names.set(text, name);
  }
  return { ids: [...ids.values()], names };
}

function castIdentifier(value: unknown, type: SchemaType): unknown {
  if (type.instance === "Buffer") return readBase64(value);
  if (type.instance === "ObjectId" && !IDENTIFIER.test(String(value))) return undefined;
  try {
    return type.cast(value, null as never, false);
  } catch {
    return undefined;
  }
}
