import { partialOptions, type SchemaIndex } from "../../schema/mongoose/schemas/change_indexes.ts";
import type { TrashConfig } from "./trash.ts";

/** A new entity may have a unique value of an entity in the trash. */
export function ofLiving([keys, options]: SchemaIndex, { field }: TrashConfig): SchemaIndex {
  if (!options.unique) return [keys, options];
  const { partialFilterExpression, ...others } = partialOptions([keys, options]);
  const condition = { ...partialFilterExpression, [field]: null };
  return [keys, { ...others, partialFilterExpression: condition }];
}
