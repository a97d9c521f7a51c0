import { isDeepStrictEqual } from "node:util";
import type { Document, Schema, SchemaType } from "mongoose";
import { MOST_RESTRICTED, type Rights } from "../../fields/rights.ts";
import { memoize } from "../../memoize.ts";
import { hasOwnCast } from "../schemas/field_rules.ts";
import { isOwn, markOwn, typesWithin, virtualsOf } from "../schemas/schema_members.ts";

type Transform = (doc: unknown, json: Record<string, unknown>, options: unknown) => unknown;

const JSON_OPTIONS = { minimize: false, flattenMaps: true } as const;

/**
 * Makes documents of a schema show only declared fields, and no hidden fields, in any JSON. JSON of populated documents
 * and of `JSON.stringify()` is included. Undeclared data of other programs is left out, unless the schema has
 * `strict: false`.
 *
 * A transform of the application runs after undeclared fields are removed and before hidden fields are removed. Empty
 * objects are kept, because they are stored.
 */
export function hideInJson(schema: Schema): void {
  const given = (schema.get("toJSON") ?? {}) as { transform?: unknown };
  const own = typeof given.transform === "function" ? given.transform as Transform : undefined;
  // A discriminator inherits the transform of its base, so its JSON hides the fields already and needs no second
  // transform.
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

/**
 * The transforms by which the framework hides fields in JSON. A discriminator inherits the transform of its base, and
 * this set shows that the transform hides fields already.
 */
const hiding = new WeakSet<object>();

/**
 * The rights of the reader for the running `jsonFor()`. The rights are module state, because the transforms of embedded
 * documents run inside `jsonFor()` and cannot get an argument from the framework. `jsonFor()` is synchronous, so
 * requests cannot mix.
 */
let reader = MOST_RESTRICTED;

/**
 * Returns the JSON of a document for a reader. A call of `toJSON()` outside of this function uses the most restricted
 * rights, because its reader is not known.
 */
export function jsonFor(doc: Document, rights: Rights): object {
  const before = reader;
  reader = rights;
  try {
    return doc.toJSON();
  } finally {
    reader = before;
  }
}

/**
 * Whether the application changes the JSON of a schema's documents, by a method, a transform or options of the schema
 * or of Mongoose. The declared fields do not describe such JSON.
 */
export function hasOwnJson(schema: Schema): boolean {
  const { transform, ...options } = (schema.get("toJSON") ?? {}) as Record<string, unknown>;
  return typeof schema.methods.toJSON === "function" ||
    Object.keys(generalOptions(schema)).length > 0 ||
    !isOwn(transform) ||
    !isDeepStrictEqual({ ...JSON_OPTIONS, ...options }, JSON_OPTIONS);
}

/**
 * Whether the JSON of a schema's documents equals their stored values, so that the JSON can be written without making
 * documents.
 */
export const showsStoredValues = memoize((schema: Schema): boolean =>
  !hasOwnJson(schema) && schema.get("strict") !== false &&
  // A document shows a nested path even if none of its fields is stored, so its JSON differs from the stored values.
  // The JSON of a schema with a nested path is therefore written by Mongoose documents.
  Object.keys(schema.paths).every((path) => !path.includes(".") || path.includes("$*")) &&
  Object.values(schema.paths).flatMap(typesWithin).every(isShownAsStored)
);

function generalOptions(schema: Schema): object {
  const { base } = schema as { base?: { options?: { toJSON?: object } } };
  return base?.options?.toJSON ?? {};
}

/**
 * Whether a method, a transform or getters of the application may show another value than the stored value of a field.
 * Groups refuse such a field, because an aggregation reads the stored value.
 */
export function showsOtherThanStored(type: SchemaType | undefined, schema: Schema): boolean {
  const { transform, getters }: { transform?: unknown; getters?: unknown } = {
    ...generalOptions(schema),
    ...schema.get("toJSON"),
  };
  return typeof schema.methods.toJSON === "function" || !isOwn(transform) || Boolean(getters) ||
    type !== undefined && !isShownAsStored(type);
}

/**
 * Whether JSON shows the stored values of a field, so that it can be written without a Mongoose document. The
 * application must have defined no cast for the field, and no transform for the field or for its type.
 */
function isShownAsStored(type: SchemaType): boolean {
  const { options, constructor } = type;
  const { defaultOptions } = constructor as { defaultOptions?: { transform?: unknown } };
  return !hasOwnCast(type) && (options as { transform?: unknown }).transform === undefined &&
    defaultOptions?.transform === undefined;
}

interface SchemaKeys {
  readonly declared: ReadonlySet<string>;
  /**
   * The paths with the option `hidden` or `apart`, and the value of that option, which may be a function of the reader.
   * Embedded schemas are not included, because each schema has a separate list.
   */
  readonly hidden: readonly { readonly path: readonly string[]; readonly option: unknown }[];
}

/**
 * Returns the declared keys of a schema, which JSON may show, and the hidden keys, which JSON leaves out. The result is
 * cached, so the schema must be complete, including the paths that Mongoose adds.
 */
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
