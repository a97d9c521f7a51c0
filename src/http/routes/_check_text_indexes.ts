import type { Schema } from "mongoose";
import { isHiddenPath } from "../../schema/fields/hidden_path.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/**
 * Checks that a search in a text index finds nothing by what clients do not see.
 *
 * @throws {TypeError} If an index of the schema holds a field that is hidden or not selected.
 */
export function checkTextIndexes(
  schema: Schema,
  { shape, fail }: { readonly shape: Shape; readonly fail: (problem: string) => TypeError },
): void {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const path = keys.find(([path, kind]) =>
    kind === "text" && (path === "$**" ? shape.secretive : isHiddenPath(path, shape))
  )?.[0];
  if (path === undefined) return;
  throw fail(`cannot search in a text index of "${path}": clients do not see all that it holds`);
}
