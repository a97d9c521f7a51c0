import { isDeepStrictEqual } from "node:util";
import type { Document, Schema, SchemaType } from "mongoose";
import { MOST_RESTRICTED, type Rights } from "../../fields/rights.ts";
import { memoize } from "../../memoize.ts";
import { hasOwnCast } from "../schemas/field_rules.ts";
import {
  isOwn,
  markOwn,
  replacesMembers,
  typesWithin,
  virtualsOf,
} from "../schemas/schema_members.ts";

type Transform = (doc: unknown, json: Record<string, unknown>, options: unknown) => unknown;

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
  // A kind (a discriminator) inherits the transform of its base.
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

/** The transforms that hide fields. */
const hiding = new WeakSet<object>();

/** Whose JSON is being made: `toJSON()` of what a document holds asks for it too. */
let reader = MOST_RESTRICTED;

/** Gives the JSON of a document for a reader. Anyone else who makes JSON of it gets what nobody is kept from. */
export function jsonFor(doc: Document, rights: Rights): object {
  const before = reader;
  reader = rights;
  try {
    return doc.toJSON();
  } finally {
    reader = before;
  }
}

/** Tells whether the JSON of a schema's documents is of the user's own making: by options, here or for all schemas. */
export function hasOwnJson(schema: Schema): boolean {
  const { transform, ...options } = (schema.get("toJSON") ?? {}) as Record<string, unknown>;
  return typeof schema.methods.toJSON === "function" ||
    Object.keys(generalOptions(schema)).length > 0 ||
    !isOwn(transform) ||
    !isDeepStrictEqual({ ...JSON_OPTIONS, ...options }, JSON_OPTIONS);
}

/** Whether JSON of a schema's documents shows the values that they hold: nothing of the user's makes other ones of them. */
export const showsStoredValues = memoize((schema: Schema): boolean =>
  !hasOwnJson(schema) && !replacesMembers(schema) && schema.get("strict") !== false &&
  // Documents show objects made of dotted paths even where none is stored.
  Object.keys(schema.paths).every((path) => !path.includes(".") || path.includes("$*")) &&
  Object.values(schema.paths).flatMap(typesWithin).every(isShownAsStored)
);

function generalOptions(schema: Schema): object {
  const { base } = schema as { base?: { options?: { toJSON?: object } } };
  return base?.options?.toJSON ?? {};
}

/** Whether functions of the user's may show another value of a field: a method, a transform or getters. */
export function showsOtherThanStored(type: SchemaType | undefined, schema: Schema): boolean {
  const { transform, getters }: { transform?: unknown; getters?: unknown } = {
    ...generalOptions(schema),
    ...schema.get("toJSON"),
  };
  return typeof schema.methods.toJSON === "function" || !isOwn(transform) || Boolean(getters) ||
    type !== undefined && !isShownAsStored(type);
}

/** Whether JSON shows what is stored of a type: neither the field nor all fields of its kind have a transform. */
function isShownAsStored(type: SchemaType): boolean {
  const { options, constructor } = type;
  const { defaultOptions } = constructor as { defaultOptions?: { transform?: unknown } };
  return !hasOwnCast(type) && (options as { transform?: unknown }).transform === undefined &&
    defaultOptions?.transform === undefined;
}

interface SchemaKeys {
  readonly declared: ReadonlySet<string>;
  /** The paths with the option `hidden`, as it is declared; embedded objects have schemas of their own. */
  readonly hidden: readonly { readonly path: readonly string[]; readonly option: unknown }[];
}

/** Gives the keys of a schema, which has to be complete: Mongoose adds paths of its own. */
export const schemaKeys = memoize((schema: Schema): SchemaKeys => {
  const declared = new Set(Object.keys(virtualsOf(schema)));
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
