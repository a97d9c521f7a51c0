import type { Schema, SchemaType } from "mongoose";

interface TypeInternals {
  readonly schema?: Schema;
  readonly embeddedSchemaType?: SchemaType;
  readonly "$__schemaType"?: SchemaType;
}

/** Leaves out paths with `$*`, which Mongoose adds for Maps. */
export function typesOf(schema: Schema): [string, SchemaType][] {
  return Object.entries(schema.paths).filter(([path]) => !path.includes("$*"));
}

export function elementOf(type: SchemaType): SchemaType | undefined {
  const { schema, embeddedSchemaType, "$__schemaType": values } = type as TypeInternals;
  return schema === undefined ? values ?? embeddedSchemaType : undefined;
}

export function embeddedSchema(type: SchemaType): Schema | undefined {
  const element = elementOf(type);
  return (type as TypeInternals).schema ?? (element && embeddedSchema(element));
}
