import { logHint } from "../../errors/log.ts";
import { type Order, totalOrder } from "../../filter/order.ts";
import { type DeclaredField, type Feature, narrowFields } from "../../pipeline/feature.ts";
import { readKeys, sortFacts } from "../../pipeline/sort_keys.ts";
import { actingLevel, type Level } from "../../pipeline/request/route.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { memoize } from "../../schema/memoize.ts";

interface SortTypes {
  readonly declared: readonly DeclaredField[];
  readonly rule: readonly string[];
  readonly params: Order;
  readonly captured: undefined;
}

/** The sort order of a list. A client names the fields in the parameter `sort`. */
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
  start: (names, route) => hintAtIndexes(names, actingLevel(route)),
};

/**
 * The fields for which a hint was logged already, by class. Several routes may sort by the same field, and one hint is
 * enough.
 */
const hintedOf = memoize((_target: ModelClass) => new Set<string>());

/**
 * Logs a hint for each field that clients may sort by and that no index begins with. For a request that sorts by such a
 * field, the database has to sort all entities.
 */
function hintAtIndexes(names: readonly string[], { target, scopes, link }: Level): void {
  if (link !== undefined) return;
  const indexes = buildSchema(target).schema.indexes().map(([key]) => Object.keys(key));
  const hinted = hintedOf(target);
  for (const name of names) {
    // The condition of a `scope` may use the first fields of an index, so the sorted field may come later in the index.
    const isIndexed = name === "_id" ||
      indexes.some(([first, ...rest]) =>
        first === name || scopes.length > 0 && rest.includes(name)
      );
    if (isIndexed || hinted.has(name)) continue;
    hinted.add(name);
    logHint(
      `No index of "${target.name}" begins with "${name}", so that the database sorts all entities for "sort=${name}": ` +
        `declare schema.index({ ${JSON.stringify(name)}: 1, _id: 1 })`,
    );
  }
}
