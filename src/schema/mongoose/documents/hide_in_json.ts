import { isDeepStrictEqual } from "node:util";
import type { Document, Schema, SchemaType } from "mongoose";
import { MOST_RESTRICTED, type Rights } from "../../fields/rights.ts";
import { showsVirtual } from "../../adopted/shown_virtuals.ts";
import { memoize } from "../../memoize.ts";
import { hasOwnCast } from "../schemas/field_rules.ts";
import {
  isOwn,
  markOwn,
  schemasWithin,
  typesWithin,
  virtualsOf,
} from "../schemas/schema_members.ts";

type Transform = (doc: unknown, json: Record<string, unknown>, options: unknown) => unknown;

const JSON_OPTIONS = { minimize: false, flattenMaps: true } as const;

/**
 * The application's transform runs before hidden fields are removed, so it cannot show them. Empty objects are kept,
 * because they are stored.
 */
export function hideInJson(schema: Schema): void {
  const given = (schema.get("toJSON") ?? {}) as { transform?: unknown };
  const own = typeof given.transform === "function" ? given.transform as Transform : undefined;
  // A discriminator inherits this transform, and must not wrap it again.
  if (own !== undefined && hiding.has(own)) return;
  const transform: Transform = (doc, json, options) => {
    const ofDoc = (doc as Document).schema as Schema;
    const { declared, hidden } = schemaKeys(ofDoc);
    for (const key of ofDoc.get("strict") === false ? [] : Object.keys(json)) {
      if (!declared.has(key)) delete json[key];
    }
    const result = own?.(doc, json, options) ?? json;
    for (const { path, option } of hidden) {
      if (reader.restricts(option)) deletePath(result, path);
    }
    return result;
  };
  if (own === undefined) markOwn(transform);
  hiding.add(transform);
  schema.set("toJSON", { ...JSON_OPTIONS, ...given, transform } as never);
}

const hiding = new WeakSet<object>();

/**
 * Mongoose passes no argument to embedded documents, so the rights are module state. `jsonFor()` is synchronous, so
 * requests cannot mix.
 */
let reader = MOST_RESTRICTED;

/** Any other call of `toJSON()` has an unknown reader, so it hides all fields that depend on rights. */
export function jsonFor(doc: Document, rights: Rights): object {
  const before = reader;
  reader = rights;
  try {
    return doc.toJSON();
  } finally {
    reader = before;
  }
}

/** If the application changes the JSON, the declared fields do not describe it. */
export function hasOwnJson(schema: Schema): boolean {
  const { transform, ...options } = (schema.get("toJSON") ?? {}) as Record<string, unknown>;
  return typeof schema.methods.toJSON === "function" ||
    Object.keys(generalOptions(schema)).length > 0 ||
    !isOwn(transform) ||
    !isDeepStrictEqual({ ...JSON_OPTIONS, ...options }, JSON_OPTIONS);
}

/** Whether the application's schema, without Mongrove's transform, changes the JSON. */
export function changesJson(schema: Schema): boolean {
  const options = { ...generalOptions(schema), ...schema.get("toJSON") };
  return typeof schema.methods.toJSON === "function" || Object.keys(options).length > 0;
}

export const showsStoredValues = memoize((schema: Schema): boolean =>
  !hasOwnJson(schema) && schema.get("strict") !== false &&
  // If no field of a nested path is stored, a document shows `{}`, but the stored bytes show nothing.
  Object.keys(schema.paths).every((path) => !path.includes(".") || path.includes("$*")) &&
  Object.values(schema.paths).flatMap(typesWithin).every(isShownAsStored)
);

function generalOptions(schema: Schema): object {
  const { base } = schema as { base?: { options?: { toJSON?: object } } };
  return base?.options?.toJSON ?? {};
}

/** `true` if JSON shows another value than the stored one, which an aggregation reads. */
export function showsOtherThanStored(type: SchemaType | undefined, schema: Schema): boolean {
  const { transform, getters }: { transform?: unknown; getters?: unknown } = {
    ...generalOptions(schema),
    ...schema.get("toJSON"),
  };
  return typeof schema.methods.toJSON === "function" || !isOwn(transform) || Boolean(getters) ||
    type !== undefined && !isShownAsStored(type);
}

/** Whether JSON shows another value than the stored one anywhere in an entity. */
export function showsOtherValues(schema: Schema): boolean {
  return [...schemasWithin(schema)].some((each) =>
    Object.values(each.paths).flatMap(typesWithin).some((type) => showsOtherThanStored(type, each))
  );
}

function isShownAsStored(type: SchemaType): boolean {
  const { options, constructor } = type;
  const { defaultOptions } = constructor as { defaultOptions?: { transform?: unknown } };
  return !hasOwnCast(type) && (options as { transform?: unknown }).transform === undefined &&
    defaultOptions?.transform === undefined;
}

interface SchemaKeys {
  readonly declared: ReadonlySet<string>;
  readonly hidden: readonly { readonly path: readonly string[]; readonly option: unknown }[];
}

/** The keys are cached, so Mongoose must have added all paths before. */
export const schemaKeys = memoize((schema: Schema): SchemaKeys => {
  const virtuals = Object.keys(virtualsOf(schema)).filter((name) => showsVirtual(schema, name));
  const declared = new Set(virtuals);
  const hidden: { path: string[]; option: unknown }[] = [];
  schema.eachPath((path: string, { options }: SchemaType) => {
    declared.add(path.split(".", 1).join());
    const option: unknown = options.apart || options.hidden;
    if (option !== true && typeof option !== "function") return;
    for (const name of [path, options.alias ?? []].flat()) {
      hidden.push({ path: name.split("."), option });
    }
  });
  const version = schema.get("versionKey");
  if (typeof version === "string") declared.add(version);
  return { declared, hidden };
});

function deletePath(json: unknown, [key, ...rest]: readonly string[]): void {
  if (typeof json !== "object" || json === null || key === undefined) return;
  if (rest.length === 0) delete (json as Record<string, unknown>)[key];
  else deletePath((json as Record<string, unknown>)[key], rest);
}
