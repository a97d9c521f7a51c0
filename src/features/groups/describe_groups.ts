import type { GroupsOptions } from "./option.ts";
import type { Description, ParameterFacts, PropertyFacts } from "../../pipeline/description.ts";
import { sortFacts } from "../../pipeline/sort_keys.ts";
import type { GroupsConfig } from "./read_groups.ts";

const TEXTS = {
  group: "The fields to group by. The answer has groups instead of entities.",
  sum: "The fields whose sum each group shows.",
  avg: "The fields whose average each group shows.",
  tz: "The time zone of the years, months and days of groups.",
} as const;

const UNITS = { year: "", month: "-[0-9]{2}", day: "-[0-9]{2}-[0-9]{2}" } as const;

export function describeGroups(config: GroupsConfig): Description {
  const { by, zones, sum, avg, count, max } = config;
  const lists = { group: [...by.keys()], sum, avg };
  const isOffered = Object.values(lists).some((fields) => fields.length > 0);
  const parameters: Record<string, ParameterFacts> = {
    ...isOffered && { sort: sortFacts(sortKeysOf({ ...config, by: by.keys() })) },
  };
  for (const [name, fields] of Object.entries(lists)) {
    if (fields.length > 0) parameters[name] = { text: TEXTS[name as keyof typeof TEXTS], fields };
  }
  if (zones.isChosen && [...by.values()].some((unit) => unit !== undefined)) {
    const schema = { type: "string", enum: zones.names, default: zones.names[0] };
    parameters.tz = { text: TEXTS.tz, schema };
  }
  const numbers = (names: readonly string[]): PropertyFacts => ({
    properties: Object.fromEntries(names.map((name) => [name, { computes: name }])),
  });
  const properties: Record<string, PropertyFacts> = {
    ...Object.fromEntries(Array.from(by, ([name, unit]): [string, PropertyFacts] => {
      if (unit === undefined) return [name, { shows: name }];
      const pattern = `^[0-9]{4}${UNITS[unit]}$`;
      return [name, { schema: { anyOf: [{ type: "string", pattern }, { type: "null" }] } }];
    })),
    ...count && { count: { schema: { type: "integer", minimum: 1 } } },
    ...sum.length > 0 && { sum: numbers(sum) },
    ...avg.length > 0 && { avg: numbers(avg) },
  };
  return {
    parameters,
    errors: ["CONFLICT"],
    route: { groups: optionOf(config) },
    answer: { alternative: { name: "Group", maxItems: max, items: { properties } } },
  };
}

interface GroupKeys {
  readonly by: Iterable<string>;
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  readonly count: boolean;
}

export function sortKeysOf({ by, sum, avg, count }: GroupKeys): string[] {
  return [
    ...by,
    ...count ? ["count"] : [],
    ...sum.map((name) => `sum.${name}`),
    ...avg.map((name) => `avg.${name}`),
  ];
}

function optionOf({ by, zones, sum, avg, ...others }: GroupsConfig): Required<GroupsOptions> {
  const keys = [...by].map(([name, unit]) => unit === undefined ? name : { [name]: unit });
  const timeZone = zones.isChosen ? zones.names : zones.names[0] ?? "UTC";
  return { by: keys, timeZone, sum: [...sum], avg: [...avg], ...others };
}
