import type { Schema } from "mongoose";
import { declaredIndexes } from "../../schema/mongoose/schemas/change_indexes.ts";
import type { OnDeleteRule } from "./on_delete_rules.ts";

/** Without the index, a removal would scan the collection for referring entities. */
export function addIndexes(rules: readonly OnDeleteRule[], schema: Schema): void {
  const covered = new Set(
    declaredIndexes(schema).flatMap(([keys, { partialFilterExpression }]) => {
      const [first] = Object.entries(keys);
      const finds = first !== undefined && [1, -1, "hashed"].includes(first[1] as never);
      return finds && partialFilterExpression === undefined ? [first[0]] : [];
    }),
  );
  for (const { name, rule } of rules) {
    if (rule !== "keep" && !covered.has(name)) schema.index({ [name]: 1 });
  }
}
