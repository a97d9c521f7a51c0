import { logHint } from "../../errors/log.ts";
import { type Order, totalOrder } from "../../filter/order.ts";
import { type DeclaredField, type Feature, narrowFields } from "../../pipeline/feature.ts";
import { readKeys, sortFacts } from "../../pipeline/sort_keys.ts";
import { actingLevel, type Route } from "../../pipeline/request/route.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { memoize } from "../../schema/memoize.ts";

interface SortTypes {
  readonly declared: readonly DeclaredField[];
  readonly config: readonly string[];
  readonly params: Order;
  readonly captured: undefined;
}

export const sort: Feature<SortTypes> = {
  name: "sort",
  operations: ["all"],
  requirements: [{ needs: "query" }],
  parameters: { sort: "list" },
  check: (option) => option.fields("scalar"),
  narrow: narrowFields,
  describe: (names) => ({ parameters: { sort: sortFacts([...new Set(["_id", ...names])]) } }),
  parse(names, given) {
    const text = given.parameter("sort");
    return text === undefined ? undefined : totalOrder(readKeys(text, ["_id", ...names]));
  },
  select: (order) => ({ order }),
  start: hintAtIndexes,
};

const hintedOf = memoize((_target: ModelClass) => new Set<string>());

/** If each statement selects by a field, such as the tenant, indexes must begin with that field. */
function hintAtIndexes(names: readonly string[], route: Route): void {
  const { target, scopes, link } = actingLevel(route);
  if (link !== undefined) return;
  const selecting = route.features.selectingFieldOf(target);
  const declared = buildSchema(target).schema.indexes().map(([key]) => Object.keys(key));
  const indexes = selecting === undefined
    ? declared
    : declared.filter(([first]) => first === selecting).map(([, ...rest]) => rest);
  const hinted = hintedOf(target);
  const missing = names.filter((name) => {
    // A `scope` may fix the first fields of an index, which then sorts by later fields too.
    const isIndexed = name === (selecting ?? "_id") ||
      indexes.some(([first, ...rest]) =>
        first === name || scopes.length > 0 && rest.includes(name)
      );
    return !isIndexed && !hinted.has(name);
  });
  if (missing.length === 0) return;
  for (const name of missing) hinted.add(name);
  const keys = missing.map((name) => selecting === undefined ? [name] : [selecting, name]);
  const begins = keys.map((each) => `"${each.join('", "')}"`);
  const needed = keys.map((each) =>
    [...new Set([...each, "_id"])].map((key) => `${JSON.stringify(key)}: 1`).join(", ")
  );
  logHint(
    `No index of "${target.name}" begins with ${begins.join(" or ")}, ` +
      `so that the database sorts all entities for "sort=${missing.join('", "sort=')}": ` +
      `declare ${needed.map((each) => `schema.index({ ${each} })`).join(", ")}`,
  );
}
