import { badParameter } from "../../errors/refusals.ts";
import { readKeys, readNames } from "./names.ts";
import type { GroupRules, GroupsQuery } from "./read_rules.ts";

/** Parameters of a list that say nothing of groups. */
const OF_ENTITIES = ["limit", "skip", "after", "select", "populate"] as const;

type Given = Readonly<
  Partial<Record<(typeof OF_ENTITIES)[number] | "group" | "sum" | "avg" | "sort", string>>
>;

/** Reads the groups that a client asks for. Without `group`, there is one of all entities. Throws a 400 that names a parameter. */
export function readGroups(given: Given, rules: GroupRules): GroupsQuery {
  const other = OF_ENTITIES.find((name) => given[name] !== undefined);
  if (other !== undefined) throw badParameter(other, "no group, sum or avg beside it");
  const names = (parameter: "group" | "sum" | "avg", allowed: Iterable<string>) => {
    const text = given[parameter];
    return text === undefined ? [] : readNames(text, { parameter, allowed: [...allowed] });
  };
  const by = names("group", rules.by.keys());
  const sum = names("sum", rules.sum);
  const avg = names("avg", rules.avg);
  const sortable = [
    ...by,
    ...rules.count ? ["count"] : [],
    ...sum.map((name) => `sum.${name}`),
    ...avg.map((name) => `avg.${name}`),
  ];
  return {
    by,
    sum,
    avg,
    rules,
    order: given.sort === undefined ? {} : readKeys(given.sort, sortable),
  };
}
