import type { Model, Schema } from "mongoose";
import { stampFields } from "../../../schema/mongoose/schemas/schema_members.ts";

/** Gives the times that Mongoose would write beside the values of an entity. */
export function timeStamps(
  model: Model<unknown>,
  ...kinds: ("createdAt" | "updatedAt")[]
): Record<string, unknown> {
  const schema = model.schema as Schema;
  const fields = stampFields(schema);
  const now = model.base.now();
  return Object.fromEntries(
    kinds.flatMap((kind) => fields[kind] ?? []).map((name) => [name, schema.path(name).cast(now)]),
  );
}
