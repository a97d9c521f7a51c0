import { isHiddenPath } from "../../schema/fields/visibility.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { ReadRules, SearchRule } from "./read_rules.ts";

/** Gives the rules of a read for those who see only a part of what it declares: the rest is as if it were not declared. */
export function narrowReads(rules: ReadRules, shape: Shape): ReadRules {
  const isShown = (name: string) => shape.fields.get(name)?.hidden === false;
  const shown = <T>(names: Iterable<T>, nameOf: (each: T) => string) =>
    [...names].filter((each) => isShown(nameOf(each)));
  const { sort, select, search, populate, ...others } = rules;
  const sorted = shown(sort ?? [], String);
  const selected = shown(select ?? [], String);
  const populated = shown(populate ?? [], ([name]) => name);
  const searched = search && narrowSearch(search, shape);
  return {
    ...others,
    ...sorted.length > 0 && { sort: new Set(sorted) },
    ...selected.length > 0 && { select: new Set(selected) },
    ...populated.length > 0 && { populate: new Map(populated) },
    ...searched && { search: searched },
  };
}

/** A search in a text index finds entities by all that the index holds. */
function narrowSearch(search: SearchRule, shape: Shape): SearchRule | undefined {
  if ("index" in search) return seesAll(search.index, shape) ? search : undefined;
  const fields = search.fields.filter((name) => shape.fields.get(name)?.hidden === false);
  return fields.length > 0 ? { fields } : undefined;
}

function seesAll(paths: readonly string[], shape: Shape): boolean {
  return paths.every((path) => path === "$**" ? !shape.secretive : !isHiddenPath(path, shape));
}
