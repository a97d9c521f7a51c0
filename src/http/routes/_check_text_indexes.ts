import type { Schema } from "mongoose";
import { isHiddenPath } from "../../schema/fields/hidden_path.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/**
 * Checks that there is a text index to search in, and that a search in it finds nothing by what clients do not see.
 *
 * @throws {TypeError} If the schema declares no text index, or one that holds a field that is hidden or not selected.
 */
export function checkTextIndexes(
  schema: Schema,
  { shape, fail }: { readonly shape: Shape; readonly fail: (problem: string) => TypeError },
): void {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const texts = keys.filter(([, kind]) => kind === "text").map(([path]) => path);
  if (texts.length === 0) {
    throw fail(`needs a text index for "search": declare it in configure(), by schema.index()`);
  }
  const hidden = texts.find((path) => path === "$**" ? shape.secretive : isHiddenPath(path, shape));
  if (hidden === undefined) return;
  throw fail(`cannot search in a text index of "${hidden}": clients do not see all that it holds`);
}
