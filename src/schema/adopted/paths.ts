import type { Schema, SchemaType } from "mongoose";

interface TypeInternals {
  readonly schema?: Schema;
  /** Of the elements of a list. */
  readonly embeddedSchemaType?: SchemaType;
  /** Of the values of a Map. */
  readonly "$__schemaType"?: SchemaType;
}

/** Mongoose keeps the values of Maps as further paths, which are left out. */
export function typesOf(schema: Schema): [string, SchemaType][] {
  return Object.entries(schema.paths).filter(([path]) => !path.includes("$*"));
}

/** Of the elements of a list without a schema, or of the values of a Map. */
export function elementOf(type: SchemaType): SchemaType | undefined {
  const { schema, embeddedSchemaType, "$__schemaType": values } = type as TypeInternals;
  return schema === undefined ? values ?? embeddedSchemaType : undefined;
}

/** Of the objects in a list, in a Map, or at the path itself. */
export function embeddedSchema(type: SchemaType): Schema | undefined {
  const element = elementOf(type);
  return (type as TypeInternals).schema ?? (element && embeddedSchema(element));
}
