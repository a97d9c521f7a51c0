import type { Method } from "../../declare/operations/methods.ts";
import { operationOf } from "../../declare/operations/action.ts";
import { takesQ } from "../../declare/operations/operation.ts";
import { topOf } from "../../filter/filters.ts";
import type { QueryLimits } from "../../filter/q/limits.ts";
import { ListedPaths } from "../../filter/q/resolve_path.ts";
import { checkKind, type OptionPlace } from "../../pipeline/option_reader.ts";

/**
 * Returns the paths that the filter `q` of a request may name, from the option `filter` of the operation. Returns
 * `undefined` if the filter may name all visible paths. Throws if the option has a path that clients do not see.
 */
export function compileFilterPaths(
  method: Method,
  { shape, mode, leftOut, fail }: OptionPlace & { readonly mode: QueryLimits["paths"] },
): ListedPaths | undefined {
  const { operation, hooks: { filter, q } } = method;
  const isOpen = filter === undefined && mode === undefined && takesQ(operationOf(method));
  if (isOpen && leftOut.length > 0) {
    throw fail(
      `needs a "filter": by q, clients could guess "${leftOut[0]}", which a hook leaves out`,
    );
  }
  if (filter === undefined) {
    if (mode !== undefined && (operation === "updateAll" || q === "required")) {
      throw fail(`needs a "filter": requests need q, which may name listed paths only`);
    }
    return mode && new ListedPaths([], shape);
  }
  if (!takesQ(operationOf(method))) throw fail(`cannot have "filter"`);
  const listed = new ListedPaths(
    checkKind(filter, { kind: "paths", option: "filter", fail }),
    shape,
  );
  const guessed = listed.names.find((path) => leftOut.includes(topOf(path)));
  if (guessed !== undefined) throw fail(`has "${guessed}" in "filter", which a hook leaves out`);
  const unseen = filter.find((name) => !listed.names.includes(name));
  if (unseen === undefined) return listed;
  throw fail(`has "${unseen}" in "filter", which is no field that clients see`);
}
