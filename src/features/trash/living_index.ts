import type { SchemaIndex } from "../../schema/mongoose/schemas/change_indexes.ts";
import type { TrashRule } from "./trash.ts";

/**
 * Returns an index that covers only entities outside of the trash, if the index is unique. A new entity may then have a
 * unique value of an entity in the trash. MongoDB has no partial index that is sparse, so the condition of a sparse
 * index becomes a part of the condition.
 */
export function ofLiving([keys, options]: SchemaIndex, { field }: TrashRule): SchemaIndex {
  if (!options.unique) return [keys, options];
  const { sparse, partialFilterExpression = {}, ...others } = options;
  const present = Object.keys(keys).map((name) => ({ [name]: { $exists: true } }));
  const [first = {}] = present;
  const filled = sparse ? present.length === 1 ? first : { $or: present } : {};
  const condition = { ...partialFilterExpression, ...filled, [field]: null };
  return [keys, { ...others, partialFilterExpression: condition }];
}
