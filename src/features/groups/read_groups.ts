import type { PipelineStage } from "mongoose";
import type { DateZones, TimeZone } from "./date_zones.ts";
import type { DateUnit } from "./option.ts";
import type { Order } from "../../filter/order.ts";
import { badParameter } from "../../errors/refusals.ts";
import { TIME_RANGE } from "../../json/json_types.ts";
import { toJson, toJsonValue } from "../../json/to_json.ts";
import { aggregateList } from "../../pipeline/aggregate_list.ts";
import { entityTexts } from "../../pipeline/read.ts";
import { isDateOnly } from "../../schema/fields/date_only.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";

export interface GroupsConfig {
  readonly by: ReadonlyMap<string, DateUnit | undefined>;
  readonly zones: DateZones;
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  readonly count: boolean;
  readonly max: number;
  readonly minCount: number;
}

export interface GroupsQuery {
  readonly by: readonly string[];
  readonly timeZone: TimeZone | undefined;
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  /** The keys are grouped fields, `count`, `sum.price` or `avg.price`. */
  readonly order: Order;
  readonly config: GroupsConfig;
}

type Values = Readonly<Record<string, unknown>>;

export async function readGroups(
  context: OpenLevelContext,
  query: GroupsQuery,
): Promise<TextAnswer> {
  const { shape } = context.level;
  const { by, sum, avg, config: { max } } = query;
  checkPopulated(context, by);
  const found = await aggregateList(context, {
    parameter: "group",
    fields: [...by, ...sum, ...avg],
    stages: stagesOf({ ...query, shape }),
    max,
    excess: `There are more than ${max} groups: narrow them by q, or group by less`,
  });
  const rows = found.map((group) => rowOf(group, { ...query, shape }));
  return { kind: "text", status: 200, text: await textOf(rows, context) };
}

/** Groups show only the fields in `by`, so other populated references would have no effect. */
function checkPopulated({ pieces: { fills } }: OpenLevelContext, by: readonly string[]): void {
  if (fills === undefined || [...fills.asked].every((name) => by.includes(name))) return;
  throw badParameter("populate", "fields of group beside it");
}

const POPULATED_AT_ONCE = 1000;

async function textOf(rows: readonly object[], context: OpenLevelContext): Promise<string> {
  if (context.pieces.fills === undefined) return toJson(rows);
  const texts: string[] = [];
  for (let start = 0; start < rows.length; start += POPULATED_AT_ONCE) {
    const some = rows.slice(start, start + POPULATED_AT_ONCE).map((row) => toJsonValue(row));
    texts.push(...await entityTexts(context, some));
  }
  return `[${texts.join(",")}]`;
}

interface ShapedQuery extends GroupsQuery {
  readonly shape: Shape;
}

function stagesOf({ by, timeZone, sum, avg, order, config, shape }: ShapedQuery): PipelineStage[] {
  const { by: units, minCount, max } = config;
  const keys = by.map((name) => {
    const { type } = shape.fields.get(name) ?? {};
    const unit = units.get(name);
    // A day without a time is the same in every time zone.
    const options = isDateOnly(type) ? { unit: unit ?? "day" } : { unit, timeZone };
    return [name, keyOf(`$${name}`, { ...options, type: type?.instance })];
  });
  const sorted = Object.entries(order).map(([key, direction]) => {
    return [by.includes(key) ? `_id.${key}` : key.replace(".", ":"), direction];
  });
  // Another program may have stored arrays or objects in the field, which form no groups.
  const compound = by.map((name) => ({ [`_id.${name}`]: { $type: ["array", "object"] } }));
  const conditions = {
    ...compound.length > 0 && { $nor: compound },
    ...minCount > 1 && { count: { $gte: minCount } },
  };
  return [
    {
      $group: {
        _id: keys.length === 0 ? null : Object.fromEntries(keys),
        ...(config.count || minCount > 1) && { count: { $sum: 1 } },
        ...Object.fromEntries(sum.map((name) => [`sum:${name}`, { $sum: `$${name}` }])),
        ...Object.fromEntries(avg.map((name) => [`avg:${name}`, { $avg: `$${name}` }])),
      },
    },
    { $match: conditions },
    { $sort: { ...Object.fromEntries(sorted), _id: 1 } },
    { $limit: max + 1 },
  ];
}

const FORMATS = { year: "%Y", month: "%Y-%m", day: "%Y-%m-%d" } as const;

/** The database writes only these years as text. Other dates belong to the group `null`. */
const YEARS = [1, 9999] as const;

/** MongoDB sorts other types before or after all dates, so this range excludes them too. */
const IN_UTC = [new Date("0001-01-01"), new Date("9999-12-31T23:59:59.999Z")] as const;

/** `$year` fails for other types, which this range excludes first. It leaves a day for time zones. */
const IN_ANY_ZONE = [new Date("0000-12-31"), new Date("+010000-01-01T23:59:59.999Z")] as const;

/** JSON shows dates outside of this range as `null`. */
const SHOWN_DATES = [new Date(-TIME_RANGE), new Date(TIME_RANGE)] as const;

const UNSHOWN_NUMBERS = [NaN, Infinity, -Infinity];

interface KeyOptions {
  readonly unit: DateUnit | undefined;
  readonly timeZone?: TimeZone | undefined;
  /** JSON shows `NaN` of a `Decimal128` as a string, so it needs no group `null`, unlike `NaN` of other types. */
  readonly type: string | undefined;
}

/** `null` for each value that JSON shows as `null`, so that no two groups look the same. */
function keyOf(value: string, { unit, timeZone, type }: KeyOptions): object {
  if (unit !== undefined) {
    const date = timeZone === undefined ? { date: value } : { date: value, timezone: timeZone };
    const isDate = timeZone === undefined ? between(value, IN_UTC) : {
      $and: [between(value, IN_ANY_ZONE), between({ $year: date }, YEARS)],
    };
    const text = { $dateToString: { ...date, format: FORMATS[unit] } };
    // An array or object becomes `{}`, whose group a later stage removes.
    const isCompound = { $in: [{ $type: value }, ["array", "object"]] };
    return { $cond: [isDate, text, { $cond: [isCompound, { $literal: {} }, null] }] };
  }
  const orNull = { $ifNull: [value, null] };
  if (type === "Decimal128") return orNull;
  const [first, last] = SHOWN_DATES;
  const isFarDate = { $or: [{ $lt: [value, first] }, { $gt: [value, last] }] };
  const isDate = { $eq: [{ $type: value }, "date"] };
  const isUnshown = { $or: [{ $in: [value, UNSHOWN_NUMBERS] }, { $and: [isDate, isFarDate] }] };
  return { $cond: [isUnshown, null, orNull] };
}

function between(value: unknown, [first, last]: readonly [unknown, unknown]): object {
  return { $and: [{ $gte: [value, first] }, { $lte: [value, last] }] };
}

function rowOf(
  group: Values,
  { by, sum, avg, config, shape }: ShapedQuery,
): object {
  const values = (names: readonly string[], valueOf: (name: string) => unknown) =>
    Object.fromEntries(names.map((name) => [name, shown(valueOf(name), { name, shape })]));
  return {
    ...values(by, (name) => Object(group._id)[name]),
    ...config.count && { count: group.count },
    ...sum.length > 0 && { sum: values(sum, (name) => group[`sum:${name}`]) },
    ...avg.length > 0 && { avg: values(avg, (name) => group[`avg:${name}`]) },
  };
}

/** JSON shows a string if the field is a `Decimal128`, and else a number, even for a stored `Decimal128`. */
function shown(value: unknown, { name, shape }: { name: string; shape: Shape }): unknown {
  if (value === undefined || value === null) return null;
  if (shape.fields.get(name)?.type?.instance === "Decimal128") return String(value);
  const { _bsontype: type } = value as { readonly _bsontype?: unknown };
  return type === "Decimal128" ? Number(value) : value;
}
