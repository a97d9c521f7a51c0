import type { Schema } from "mongoose";
import { isJsonObject } from "../fields/json.ts";
import { virtualsOf } from "../mongoose/schemas/schema_members.ts";
import type { SchemaAccess } from "./access.ts";
import { embeddedSchema, typesOf } from "./paths.ts";

type Shown = "whole" | Map<string, Shown>;

export type ShowJson = (json: unknown, id: unknown) => unknown;

export function showJson(
  schema: Schema,
  { access, virtuals }: { readonly access: SchemaAccess; readonly virtuals: ReadonlySet<string> },
): ShowJson {
  const shown = shownKeys(schema, access);
  for (const name of virtuals) insert(shown, { names: name.split("."), value: "whole" });
  return (json, id) => {
    const kept = keep(json, shown);
    // An `id` that repeats the `_id` reveals nothing, so it stays in the JSON.
    if (isJsonObject(json) && isJsonObject(kept) && String(json.id) === String(id)) {
      return { ...kept, id: json.id };
    }
    return kept;
  };
}

function shownKeys(schema: Schema, access: SchemaAccess): Map<string, Shown> {
  const keys = new Map<string, Shown>();
  for (const [path, type] of typesOf(schema)) {
    const { hidden = true, within } = access.get(path) ?? {};
    if (hidden) continue;
    const inner = type.instance === "Map" ? undefined : embeddedSchema(type);
    const value = inner && within ? shownKeys(inner, within) : "whole";
    insert(keys, { names: path.split("."), value });
  }
  return keys;
}

function insert(
  keys: Map<string, Shown>,
  { names: [name = "", ...rest], value }: { names: readonly string[]; value: Shown },
): void {
  if (rest.length === 0) return void keys.set(name, value);
  const given = keys.get(name);
  if (given === "whole") return;
  const inner = given ?? new Map<string, Shown>();
  keys.set(name, inner);
  insert(inner, { names: rest, value });
}

function keep(json: unknown, shown: Shown): unknown {
  if (shown === "whole") return json;
  if (Array.isArray(json)) return json.map((each) => keep(each, shown));
  // A transform may have put hidden data in the place of an object, so only `null` is kept.
  if (typeof json !== "object" || json === null) return json === null ? null : undefined;
  const entries = Object.entries(json).flatMap(([key, value]) => {
    const inner = shown.get(key);
    const kept = inner === undefined ? undefined : keep(value, inner);
    // With `minimize`, an empty object would reveal that a hidden value is stored.
    const isEmpty = inner !== "whole" && isJsonObject(kept) && Object.keys(kept).length === 0;
    return kept === undefined || isEmpty ? [] : [[key, kept]];
  });
  return Object.fromEntries(entries);
}

export function isPopulated(schema: Schema, name: string): boolean {
  const { options } = Object(virtualsOf(schema)[name]) as {
    options?: { ref?: unknown; refPath?: unknown; localField?: unknown };
  };
  return [options?.ref, options?.refPath, options?.localField].some((each) => each !== undefined);
}
