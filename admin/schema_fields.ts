import type { Field } from "./fields.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<string, string>> = {
  string: "String",
  number: "Number",
  integer: "Number",
  boolean: "Boolean",
};

/** Forms do not support all types of a JSON Schema. */
export function fieldsOfSchema({ properties, required }: JsonSchema): readonly Field[] {
  const needed = Array.isArray(required) ? required : [];
  return Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>)
    .map(([name, schema]) => ({
      ...valueOfSchema(schema),
      name,
      required: needed.includes(name),
      readonly: false,
    }));
}

function valueOfSchema(schema: JsonSchema): Pick<Field, "type" | "items" | "enum" | "description"> {
  const { type, format, items, description } = schema;
  const isDate = type === "string" && format === "date-time";
  const words = typeof description === "string" ? { description } : {};
  const values = Array.isArray(schema.enum) ? { enum: schema.enum as unknown[] } : {};
  if (type === "array") {
    return { type: "Array", items: valueOfSchema((items ?? {}) as JsonSchema), ...words };
  }
  return { type: isDate ? "Date" : TYPES[String(type)] ?? "Object", ...values, ...words };
}
