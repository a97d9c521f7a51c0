import { MARK_KEYS, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";

/** JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export function orNull(schema: JsonSchema): JsonSchema {
  // An empty schema allows `null`.
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

export function withSchemas(
  types: Readonly<Record<string, JsonSchema>>,
): Record<string, { readonly schema: JsonSchema }> {
  return Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }]));
}

/** A reference such as `#/$defs/a` would otherwise point into another schema. */
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

/** A list of types makes client generators such as oapi-codegen and kubb fail. */
export const JSON_SCALARS: readonly JsonSchema[] = ["string", "number", "boolean", "null"]
  .map((type) => ({ type }));

/** The server writes ObjectIds in lower case. */
export const IDENTIFIER_SCHEMA = { type: "string", pattern: "^[0-9a-f]{24}$" } as const;

export const GIVEN_IDENTIFIER = { type: "string", pattern: "^[0-9a-fA-F]{24}$" } as const;

/** MongoDB cannot address keys with a dot or with `$` at the start. */
export const KEYS = {
  pattern: "^[^$.\\u0000][^.\\u0000]*$",
  not: { enum: [...MARK_KEYS] },
} as const;

/** Keys in a filter, unlike in a body, can be empty or contain dots. */
export const FILTER_KEYS = {
  pattern: "^([^$\\u0000][^\\u0000]*)?$",
  not: { enum: [...PROTOTYPE_KEYS, ...MARK_KEYS] },
} as const;

/** Code generators need one enum for each type. */
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
