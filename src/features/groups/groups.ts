import type { DateUnit } from "./option.ts";
import { whyUnstored } from "../../pipeline/aggregate_list.ts";
import type { DeclaredField, Feature } from "../../pipeline/feature.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import type { OptionPlace, OptionReader } from "../../pipeline/option_reader.ts";
import { readKeys } from "../../pipeline/sort_keys.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { describeGroups, sortKeysOf } from "./describe_groups.ts";
import { checkZones, type DateZones, zoneOf } from "./date_zones.ts";
import { type GroupsConfig, type GroupsQuery, readGroups } from "./read_groups.ts";

interface GroupTypes {
  readonly declared: {
    readonly by: readonly { readonly field: DeclaredField; readonly unit: DateUnit | undefined }[];
    readonly sum: readonly DeclaredField[];
    readonly avg: readonly DeclaredField[];
    readonly zones: DateZones;
    readonly count: boolean;
    readonly max: number;
    readonly minCount: number;
  };
  readonly config: GroupsConfig;
  readonly params: GroupsQuery;
  readonly captured: undefined;
}

const UNITS: readonly unknown[] = ["year", "month", "day"] satisfies DateUnit[];

/** Each group has these keys, so a field with such a name is refused. */
const OTHER_KEYS = ["count", "sum", "avg"];

const NUMBERS = ["Number", "Double", "Int32", "BigInt", "Decimal128"];

export const groups: Feature<GroupTypes> = {
  name: "groups",
  operations: ["all"],
  requirements: [
    { needs: "query" },
    {
      withoutHooks: ["postFetch", "preSend"],
      reason: (hook) => `they would tell of what "${hook}" leaves out`,
    },
    { needs: "collection", reason: "it lists what others embed" },
    { needs: "aggregation" },
  ],
  exclusive: {
    keeps: ["search", "populate"],
    allowed: "no group, sum or avg beside it",
    noun: "Groups",
    clash: (noun) => `${noun} are not grouped`,
  },
  parameters: { group: "list", sum: "list", avg: "list", sort: "list", tz: "one" },
  check(option, place) {
    const { by, timeZone, sum, avg, count, max, minCount } = option.parts(
      ...["by", "timeZone", "sum", "avg", "count", "max", "minCount"] as const,
    );
    const keys = checkKeys(by, place);
    const isDated = keys.some(({ unit }) => unit !== undefined);
    return {
      count: count.flag(),
      max: max.number(1000),
      minCount: minCount.number(1),
      by: keys,
      zones: checkZones(timeZone, isDated),
      sum: checkNumbers(sum, place),
      avg: checkNumbers(avg, place),
    };
  },
  narrow({ by, sum, avg, ...others }, reader) {
    const visible = (fields: readonly DeclaredField[]) =>
      fields.flatMap((field) => field.visibleTo(reader));
    const keys = by.flatMap(({ field, unit }) =>
      field.visibleTo(reader).map((name) => [name, unit] as const)
    );
    return { ...others, by: new Map(keys), sum: visible(sum), avg: visible(avg) };
  },
  describe: describeGroups,
  parse: parseGroups,
  respond: (query, context) => readGroups(context, query),
};

function parseGroups(config: GroupsConfig, given: GivenRequest): GroupsQuery | undefined {
  const isGiven = ["group", "sum", "avg"].some((name) => given.parameter(name) !== undefined);
  if (!isGiven) return undefined;
  const by = given.names("group", [...config.by.keys()]);
  const sum = given.names("sum", config.sum);
  const avg = given.names("avg", config.avg);
  const sortable = sortKeysOf({ by, sum, avg, count: config.count });
  const sort = given.parameter("sort");
  const timeZone = zoneOf(config.zones, given);
  return {
    by,
    timeZone,
    sum,
    avg,
    config,
    order: sort === undefined ? {} : readKeys(sort, sortable),
  };
}

function checkKeys(option: OptionReader, place: OptionPlace): GroupTypes["declared"]["by"] {
  const entries = (Array.isArray(option.value) ? option.value : []).flatMap((each: unknown) =>
    isJsonObject(each) ? Object.entries(each) : [[String(each), undefined] as [string, unknown]]
  );
  const names = new Set<string>();
  if (entries.length === 0) {
    return option.fields("scalar").map((field) => ({ field, unit: undefined }));
  }
  return entries.map(([name, unit]) => {
    const field = option.field(name, "scalar", (shape) => {
      if (OTHER_KEYS.includes(name)) return "which is another key of a group";
      if (unit !== undefined && shape.type?.instance !== "Date" && UNITS.includes(unit)) {
        return "which is no Date";
      }
      return whyUnstored(shape, place);
    });
    const named = `has "${name}" in "groups.by"`;
    if (names.has(name)) throw option.fail(`${named} twice`);
    if (unit !== undefined && !UNITS.includes(unit)) {
      throw option.fail(`${named} with no unit out of ${UNITS.join(", ")}`);
    }
    names.add(name);
    return { field, unit: unit as DateUnit | undefined };
  });
}

function checkNumbers(option: OptionReader, place: OptionPlace): readonly DeclaredField[] {
  return option.fields("scalar", {
    isOptional: true,
    check: (field) =>
      NUMBERS.includes(field.type?.instance ?? "")
        ? whyUnstored(field, place)
        : "which is no Number",
  });
}
