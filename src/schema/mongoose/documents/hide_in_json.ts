import type { Schema, SchemaType } from "mongoose";
import { virtualsOf } from "../schemas/schema_members.ts";

type Transform = (doc: unknown, json: Record<string, unknown>, options: unknown) => unknown;

/** Transforms that no user has a part in. */
const builtInOnly = new WeakSet<object>();

/** The JSON options of schemas without options of the user. */
const JSON_OPTIONS = { minimize: false, flattenMaps: true } as const;

/**
 * Makes documents of a schema show their declared fields and no secrets in any JSON, populated ones and
 * `JSON.stringify` included. Data of others in the same collection stays out, unless `strict: false` asks for it.
 *
 * A transform of the user's own runs in between. What is stored is shown: empty objects are kept.
 */
export function hideInJson(schema: Schema): void {
  const given = (schema.get("toJSON") ?? {}) as { transform?: unknown };
  const own = typeof given.transform === "function" ? given.transform as Transform : undefined;
  const hidden = hiddenPaths(schema);
  const open = schema.get("strict") === false;
  const transform: Transform = (doc, json, options) => {
    const declared = declaredKeys(schema);
    for (const key of open ? [] : Object.keys(json)) {
      if (!declared.has(key)) delete json[key];
    }
    const result = own?.(doc, json, options) ?? json;
    for (const path of hidden) deletePath(result, path);
    return result;
  };
  if (own === undefined) builtInOnly.add(transform);
  schema.set("toJSON", { ...JSON_OPTIONS, ...given, transform } as never);
}

/** Tells whether the JSON of a schema's documents is of the user's own making: by options, here or for all schemas. */
export function hasOwnJson(schema: Schema): boolean {
  const { transform, ...options } = (schema.get("toJSON") ?? {}) as Record<string, unknown>;
  const { toJSON: general } =
    (schema as { base?: { options?: { toJSON?: object } } }).base?.options ?? {};
  return typeof schema.methods.toJSON === "function" || Object.keys(general ?? {}).length > 0 ||
    typeof transform !== "function" || !builtInOnly.has(transform) ||
    Object.entries({ ...JSON_OPTIONS, ...options }).some(([name, value]) =>
      !(name in JSON_OPTIONS) || value !== JSON_OPTIONS[name as keyof typeof JSON_OPTIONS]
    );
}

const declaredBy = new WeakMap<Schema, ReadonlySet<string>>();

/** The keys that documents may show: read late, as Mongoose adds paths of its own. */
export function declaredKeys(schema: Schema): ReadonlySet<string> {
  let keys = declaredBy.get(schema);
  if (keys === undefined) declaredBy.set(schema, keys = readDeclared(schema));
  return keys;
}

function readDeclared(schema: Schema): Set<string> {
  const keys = new Set(Object.keys(virtualsOf(schema)));
  schema.eachPath((path: string) => {
    keys.add(path.split(".")[0] as string);
  });
  const version = schema.get("versionKey");
  if (typeof version === "string") keys.add(version);
  return keys;
}

const secretive = new WeakMap<Schema, boolean>();

/** Whether a schema hides something itself; what it embeds has schemas of its own. */
export function hasHiddenPaths(schema: Schema): boolean {
  let known = secretive.get(schema);
  if (known === undefined) secretive.set(schema, known = hiddenPaths(schema).length > 0);
  return known;
}

function hiddenPaths(schema: Schema): string[][] {
  const paths: string[][] = [];
  schema.eachPath((path: string, type: SchemaType) => {
    if (type.options.hidden !== true) return;
    for (const name of [path, type.options.alias ?? []].flat()) paths.push(name.split("."));
  });
  return paths;
}

function deletePath(json: unknown, [key, ...rest]: string[]): void {
  if (typeof json !== "object" || json === null || key === undefined) return;
  if (rest.length === 0) delete (json as Record<string, unknown>)[key];
  else deletePath((json as Record<string, unknown>)[key], rest);
}
