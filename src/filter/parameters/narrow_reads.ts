import { projectionOf } from "../projection.ts";
import { isHiddenPath } from "../../schema/fields/visibility.ts";
import { referenceIn } from "../../schema/fields/shape.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { GroupRules, PopulateRule, ReadRules, SearchRule } from "./read_rules.ts";

/** Gives the rules of a read for those who see only a part of what it declares: the rest is as if it were not declared. */
export function narrowReads(rules: ReadRules, shape: Shape): ReadRules {
  const isShown = (name: string) => isSeen(name, shape);
  const { sort, select, search, populate, groups, ...others } = rules;
  const sorted = [...sort ?? []].filter(isShown);
  const selected = [...select ?? []].filter(isShown);
  const populated = [...populate ?? []].filter(([name]) => isShown(name));
  const searched = search && narrowSearch(search, shape);
  return {
    ...others,
    ...sorted.length > 0 && { sort: new Set(sorted) },
    ...selected.length > 0 && { select: new Set(selected) },
    ...populated.length > 0 && {
      populate: new Map(populated.map(([name, rule]) => {
        return [name, narrowPopulate(rule, shape.fields.get(name))];
      })),
    },
    ...searched && { search: searched },
    ...groups && { groups: narrowGroups(groups, isShown) },
  };
}

/** Groups stay declared where nothing of them is shown: their parameters are refused then. */
function narrowGroups(groups: GroupRules, isShown: (name: string) => boolean): GroupRules {
  return {
    ...groups,
    by: new Map([...groups.by].filter(([name]) => isShown(name))),
    sum: new Set([...groups.sum].filter(isShown)),
    avg: new Set([...groups.avg].filter(isShown)),
  };
}

function isSeen(name: string, shape: Shape): boolean {
  return shape.fields.get(name)?.hidden === false;
}

/** Fields that are not shown are not read either. */
function narrowPopulate(rule: PopulateRule, field = rule.field): PopulateRule {
  const target = referenceIn(field)?.populated;
  if (rule.select === undefined || target === undefined) return { ...rule, field };
  const select = rule.select.filter((name) => name === "_id" || isSeen(name, target));
  return { ...rule, field, select, projection: projectionOf(select) };
}

/** A search in a text index finds entities by all that the index holds. */
function narrowSearch(search: SearchRule, shape: Shape): SearchRule | undefined {
  if ("index" in search) return seesAll(search.index, shape) ? search : undefined;
  const fields = search.fields.filter((name) => isSeen(name, shape));
  return fields.length > 0 ? { fields } : undefined;
}

function seesAll(paths: readonly string[], shape: Shape): boolean {
  return paths.every((path) => path === "$**" ? !shape.secretive : !isHiddenPath(path, shape));
}
