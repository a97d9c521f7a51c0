import type { DateUnit, GroupsOptions } from "../../declare/hooks/read_options.ts";
import type { GroupRules } from "../../filter/parameters/read_rules.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { showsOtherThanStored } from "../../schema/mongoose/documents/hide_in_json.ts";
import { findsByMiddleware } from "../../schema/mongoose/schemas/schema_members.ts";
import { checkFields, checkKind, objectOf } from "../check_options.ts";
import type { OperationPlace } from "./_compile_reads.ts";

const UNITS: readonly unknown[] = ["year", "month", "day"] satisfies DateUnit[];

/**
 * The keys of a group in an answer that are not fields. Clients cannot group by a field with one of these names,
 * because the group would have one key for two values.
 */
const OTHER_KEYS = ["count", "sum", "avg"];

const NUMBERS = ["Number", "Double", "Int32", "BigInt", "Decimal128"];

export function compileGroups(given: unknown, place: OperationPlace): GroupRules {
  const { schema, link, fail } = place;
  if (link?.embedded) throw fail(`cannot have "groups": it lists what others embed`);
  if (findsByMiddleware(schema)) {
    throw fail(`cannot have "groups": the model has middleware of find(), and none of aggregate()`);
  }
  const names = ["by", "sum", "avg", "count", "max", "least"] as const;
  const { by, sum, avg, count = false, max = 1000, least = 1 } = objectOf(given, {
    names,
    option: "groups",
    fail,
  });
  return {
    count: checkKind(count, { kind: "boolean", option: "groups.count", fail }),
    max: checkKind(max, { kind: "count", option: "groups.max", fail }),
    least: checkKind(least, { kind: "count", option: "groups.least", fail }),
    by: compileKeys(by, place),
    sum: compileNumbers(sum, { ...place, option: "groups.sum" }),
    avg: compileNumbers(avg, { ...place, option: "groups.avg" }),
  };
}

function compileKeys(given: unknown, place: OperationPlace): GroupRules["by"] {
  const { fail } = place;
  const option = "groups.by";
  const entries = (Array.isArray(given) ? given : []).flatMap((each: unknown) =>
    isJsonObject(each) ? Object.entries(each) : [[String(each), undefined] as [string, unknown]]
  );
  const keys = new Map<string, DateUnit | undefined>();
  checkFields(entries.map(([name]) => name), { ...place, option });
  for (const [name, unit] of entries) {
    const named = `has "${name}" in "${option}"`;
    if (OTHER_KEYS.includes(name)) throw fail(`${named}, which is another key of a group`);
    if (keys.has(name)) throw fail(`${named} twice`);
    if (unit !== undefined) {
      if (!UNITS.includes(unit)) throw fail(`${named} with no unit out of ${UNITS.join(", ")}`);
      checkTypes([name], { ...place, option, types: ["Date"] });
    }
    keys.set(name, unit as DateUnit | undefined);
  }
  checkShown([...keys.keys()], { ...place, option });
  return keys;
}

interface Named extends OperationPlace {
  readonly option: string;
}

function compileNumbers(given: unknown, named: Named): ReadonlySet<string> {
  if (given === undefined) return new Set();
  const names = checkFields(given, named);
  checkTypes(names, { ...named, types: NUMBERS });
  checkShown(names, named);
  return new Set(names);
}

function checkTypes(
  names: readonly string[],
  { shape, option, types, fail }: Named & { readonly types: readonly string[] },
): void {
  const other = names.find((name) => !types.includes(shape.fields.get(name)?.type?.instance ?? ""));
  if (other !== undefined) throw fail(`has "${other}" in "${option}", which is no ${types[0]}`);
}

/**
 * Throws if functions of the model may show another value of a field than is stored. The database groups and adds up
 * the stored values, so the groups would have values that no entity shows.
 */
function checkShown(names: readonly string[], { schema, shape, option, fail }: Named): void {
  const other = names.find((name) => showsOtherThanStored(shape.fields.get(name)?.type, schema));
  if (other === undefined) return;
  throw fail(
    `has "${other}" in "${option}", of which the model shows another value than is stored`,
  );
}

/**
 * Converts the rules of groups back to the options of a declaration, completed with the defaults. The description of a
 * route contains these options.
 */
export function describeGroups({ by, sum, avg, ...others }: GroupRules): Required<GroupsOptions> {
  const keys = [...by].map(([name, unit]) => unit === undefined ? name : { [name]: unit });
  return { by: keys, sum: [...sum], avg: [...avg], ...others };
}
