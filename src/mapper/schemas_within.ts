import type { Schema, SchemaType } from "mongoose";

/** Gives a schema and all that it embeds, however deep. */
export function schemasWithin(schema: Schema, found: Set<Schema> = new Set()): ReadonlySet<Schema> {
  if (found.has(schema)) return found;
  found.add(schema);
  schema.eachPath((_path: string, type: SchemaType) => {
    for (const inner of typesWithin(type)) {
      const { schema: embedded } = inner as { schema?: Schema };
      if (embedded !== undefined) schemasWithin(embedded, found);
    }
  });
  return found;
}

/** Gives a type, the type of its elements, and so on. */
export function typesWithin(type: SchemaType): SchemaType[] {
  const { embeddedSchemaType: element } = type as { embeddedSchemaType?: SchemaType };
  return element === undefined ? [type] : [type, ...typesWithin(element)];
}
