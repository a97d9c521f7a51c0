import { MARK_KEYS, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";

/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export function orNull(schema: JsonSchema): JsonSchema {
  // An empty schema allows every value, `null` included.
  if (Object.keys(schema).length === 0) return schema;
  const others = Array.isArray(schema.anyOf) && Object.keys(schema).length === 1
    ? schema.anyOf as JsonSchema[]
    : [schema];
  if (others.some(({ type }) => type === "null")) return schema;
  return { anyOf: [...others, { type: "null" }] };
}

export function refer(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Returns the field `content` of a body in the OpenAPI document, from the media types of the body and their schemas.
 */
export function withSchemas(
  types: Readonly<Record<string, JsonSchema>>,
): Record<string, { readonly schema: JsonSchema }> {
  return Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }]));
}

/**
 * Returns the schema of a validation library in the form of a component of the OpenAPI document. References of the
 * schema to its parts are changed to point into the component. Without this change, they would point to other places of
 * the document.
 */
export function moved(text: string, name: string): JsonSchema {
  const { $schema: _schema, $id: _id, ...schema } = JSON.parse(
    text,
    (key, value: unknown) =>
      key === "$ref" && typeof value === "string" && value.startsWith("#")
        ? `${refer(name).$ref}${value.slice(1)}`
        : value,
  ) as JsonSchema;
  return schema;
}

/**
 * The schemas of JSON values that contain no other values. Each schema has one type, because a list of types makes
 * client generators such as oapi-codegen and kubb fail.
 */
export const JSON_SCALARS: readonly JsonSchema[] = ["string", "number", "boolean", "null"]
  .map((type) => ({ type }));

/** The schema of identifiers in answers, which the server writes in lower case. */
export const IDENTIFIER = { type: "string", pattern: "^[0-9a-f]{24}$" } as const;

/** The schema of identifiers in requests, which the server accepts in lower and upper case. */
export const GIVEN_IDENTIFIER = { type: "string", pattern: "^[0-9a-fA-F]{24}$" } as const;

/**
 * The schema of keys in Maps and free-form data of a body. Keys with a dot or with `$` at the start are not allowed,
 * because MongoDB cannot address them in a path.
 */
export const KEYS = {
  pattern: "^[^$.\\u0000][^.\\u0000]*$",
  not: { enum: [...MARK_KEYS] },
} as const;

/**
 * The schema of keys in an object with which a filter compares a Map or free-form data. Unlike a key in a body, such a
 * key can be empty or contain dots.
 */
export const FILTER_KEYS = {
  pattern: "^([^$\\u0000][^\\u0000]*)?$",
  not: { enum: [...PROTOTYPE_KEYS, ...MARK_KEYS] },
} as const;

/**
 * Returns a schema that allows the given values. Values of one type share one schema, because code generators need one
 * enum for each type.
 */
export function oneOf(values: readonly unknown[]): JsonSchema {
  const unique = [...new Set(values)];
  const types = new Set(unique.map(typeOf));
  const choices = [...types].map((type) =>
    ofType(unique.filter((value) => typeOf(value) === type))
  );
  const [only, ...others] = choices;
  return only !== undefined && others.length === 0 ? only : { anyOf: choices };
}

function typeOf(value: unknown): string {
  return typeof value;
}

function ofType(values: readonly unknown[]): JsonSchema {
  const [first] = values;
  if (typeof first === "boolean" && values.length === 2) return { type: "boolean" };
  const isInteger = values.every((value) => Number.isInteger(value));
  return { type: isInteger ? "integer" : typeof first, enum: values };
}
