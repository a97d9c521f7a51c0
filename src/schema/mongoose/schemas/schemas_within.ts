import type { Model, Schema, SchemaType } from "mongoose";
import { hasMiddleware } from "./middleware.ts";
import { replacesMembers } from "./schema_members.ts";

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

export function typesWithin(type: SchemaType): SchemaType[] {
  const { embeddedSchemaType: element } = type as { embeddedSchemaType?: SchemaType };
  return element === undefined ? [type] : [type, ...typesWithin(element)];
}

/** Whether nothing of the user's runs with some operations: on a model, on its kinds, or on what it embeds. */
export function runsNothingOwn(model: Model<unknown>, operations: readonly string[]): boolean {
  const { discriminators, schema } = model;
  return isNone(discriminators) &&
    [...schemasWithin(schema as Schema)].every((each) =>
      isNone((each as { discriminators?: unknown }).discriminators) && !replacesMembers(each) &&
      !hasMiddleware(each, operations)
    );
}

/** Mongoose has `null` for options that were not given. */
function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}
